// SPDX-License-Identifier: Apache-2.0
// Making a rank from the files of an image.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nacre/image_rows.hpp>
#include <nacre/nacre.hpp>

#include "am/rank_tree.hpp"
#include "base/exception_text.hpp"
#include "mobile/directory/resized_homes.hpp"
#include "runtime/engine.hpp"
#include "runtime/image_sections.hpp"
#include "runtime/rank_image.hpp"

namespace nacre {

/// The parts of rank 0's file that all ranks need.
struct image_heads {
  std::vector<array_image> arrays;
  std::vector<group_image> groups;          ///< without their members
  std::vector<container_image> containers;  ///< without their elements
  template <class Archive>
  void serialize(Archive& ar) {
    ar(arrays, groups, containers);
  }
};

rank_restorer::rank_restorer(engine& core, thread_context& thread, std::vector<images::sections> files,
                             std::uint32_t ranks)
    : core_(core), thread_(thread), files_(std::move(files)), ranks_(ranks), heads_(std::make_unique<image_heads>()) {}
rank_restorer::~rank_restorer() = default;

bool rank_restorer::is_resized() const noexcept { return ranks_ != core_.size(); }

void rank_restorer::check(std::uint32_t groups_before) const {
  for (const images::sections& file : files_) {
    const auto numbers = read_section<rank_numbers>(file, numbers_section, "numbers");
    if (numbers.groups_before != groups_before) {
      throw image_misfit("the program made " + std::to_string(numbers.groups_before) +
                         " groups before rt.restored when the image was taken, and makes " +
                         std::to_string(groups_before) + " now: make the same ones");
    }
    read_section<image_names>(file, names_section, "names").resolve();
    for (const array_image& each : read_section<std::vector<array_image>>(file, arrays_section, "arrays")) {
      if (detail::find_array_row(each.row) == nullptr)
        throw image_misfit("the image has an array of " + each.type + " that this program does not mention");
    }
    for (const group_image& each : read_section<std::vector<group_image>>(file, groups_section, "groups")) {
      const detail::group_row* const row = detail::find_group_row(each.row);
      if (row == nullptr || row->type->load == nullptr)
        throw image_misfit("the image has a group of " + each.name + " that this program cannot make");
      const std::string another = " cannot go on on another number of ranks: it was " + std::to_string(ranks_);
      if (core_.size() < ranks_ && row->type->merge == nullptr) {
        throw image_misfit("the group of " + each.name + another + "; write `void merge(" + each.name +
                           "&& other)` in it, for the members of ranks that are no more");
      }
    }
  }
}

/// All ranks get the numbers of all old ones, and the heads of rank 0's file.
void rank_restorer::exchange() {
  runtime rt(core_, thread_);
  std::vector<rank_numbers> own_numbers;
  for (const images::sections& file : files_)
    own_numbers.push_back(read_section<rank_numbers>(file, numbers_section, "numbers"));
  numbers_.resize(ranks_);
  std::uint32_t rank = 0;
  for (std::vector<rank_numbers>& each : rt.all_gather(own_numbers)) {
    for (std::uint32_t number = 0; number < each.size(); ++number) {
      numbers_[rank + number * core_.size()] = std::move(each[number]);
    }
    ++rank;
  }
  if (core_.rank().value() == 0) {
    heads_->arrays = read_section<std::vector<array_image>>(files_.front(), arrays_section, "arrays");
    heads_->groups = read_section<std::vector<group_image>>(files_.front(), groups_section, "groups");
    for (group_image& each : heads_->groups) each.member = {};
    heads_->containers = read_section<std::vector<container_image>>(files_.front(), containers_section, "containers");
    for (container_image& each : heads_->containers) each.elements = {};
  }
  *heads_ = rt.broadcast(*heads_, rank_id(0));
}

/// By birth: the last number that it has given to an object, in this image's life or an earlier one.
std::vector<std::uint64_t> rank_restorer::last_of_births() const {
  std::vector<std::uint64_t> last;
  for (const rank_numbers& each : numbers_) last.push_back(each.objects.last_object);
  const std::vector<std::uint64_t>& earlier = numbers_.front().earlier_births;
  last.insert(last.end(), earlier.begin(), earlier.end());
  return last;
}

/// Names keep their births, some of which may be ranks that the job does not have any more.
void rank_restorer::reckon_homes() {
  if (!is_resized() && !numbers_.front().is_resized) return;
  earlier_names given{last_of_births(), {}};
  for (const array_image& each : heads_->arrays) given.arrays.push_back({each.first, each.shape.count(), each.keyed});
  core_.objects().homes().reckon_by(std::make_shared<resized_homes>(core_.size(), std::move(given)));
}

void rank_restorer::open(carried_over& earlier) {
  exchange();
  reckon_homes();
  const std::uint32_t rank = core_.rank().value(), ranks = core_.size();
  object_numbers object_numbers = numbers_.front().objects;  // those of arrays are equal on all ranks
  const std::vector<std::uint64_t> births = last_of_births();
  object_numbers.last_object = rank < births.size() ? births[rank] : 0;
  earlier.earlier_births.assign(births.begin() + std::min<std::ptrdiff_t>(ranks, std::ssize(births)), births.end());
  for (const rank_numbers& each : numbers_)
    object_numbers.last_section = std::max(object_numbers.last_section, each.objects.last_section);
  if (is_resized())
    object_numbers.last_section =
        (object_numbers.last_section + 1) * ranks_ / ranks + 1;  // behind all numbers given so far
  core_.objects().images(thread_).open(heads_->arrays, object_numbers);
  core_.containers().go_on_behind(numbers_.front().containers);
  for (const container_image& each : heads_->containers) earlier.containers[each.number].name = each.name;
  for (images::sections& file : files_) {
    for (container_image& each : read_section<std::vector<container_image>>(file, containers_section, "containers")) {
      auto& waiting = earlier.containers[each.number].elements;
      std::move(each.elements.begin(), each.elements.end(), std::back_inserter(waiting));
    }
    file.erase(containers_section);
  }
}

namespace {

/// A handler: objects with their home here lie at the sender.
void objects_at_source(context& ctx, const std::vector<object_elsewhere>& objects) {
  ctx.core().objects().images(ctx.current_thread()).tell_home(ctx.source(), objects);
}

}  // namespace

std::vector<std::pair<std::uint64_t, std::uint32_t>> rank_restorer::install() {
  object_images objects = core_.objects().images(thread_);
  install_groups();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> going;
  runtime rt(core_, thread_);
  std::vector<future<void>> told;
  for (images::sections& file : files_) {
    auto names = read_section<image_names>(file, names_section, "names");
    names.resolve();
    const auto packed = file.find(objects_section);
    if (packed == file.end()) continue;
    for (const auto& [home, each] : objects.install(packed->second, names)) {
      told.push_back(rt.call<&objects_at_source>(rank_id(home), each));
      for (const object_elsewhere& one : each) going.emplace_back(one.object, home);
    }
    file.erase(packed);
    if (const auto lying = file.find(lying_section); lying != file.end()) objects.install_lying(lying->second, names);
  }
  for (future<void>& each : told) each.get();
  if (!is_resized()) going.clear();
  return going;
}

/// The member of this rank, then those of ranks that are no more.
void rank_restorer::install_groups() {
  std::vector<std::vector<group_image>> saved;
  for (const images::sections& file : files_)
    saved.push_back(read_section<std::vector<group_image>>(file, groups_section, "groups"));
  for (std::size_t index = 0; index < heads_->groups.size(); ++index) {
    const group_image& head = heads_->groups[index];
    const detail::group_type& type = *detail::find_group_row(head.row)->type;
    std::unique_ptr<void, void (*)(void*) noexcept> member(nullptr, type.destroy);
    for (const std::vector<group_image>& file : saved) {
      reader in(file.at(index).member);
      std::unique_ptr<void, void (*)(void*) noexcept> one(
          call_named([&] { return "serialize of the class " + head.name + " (a group)"; },
                     [&] { return type.load(in); }),
          type.destroy);
      if (one == nullptr || !in.finish())
        throw image_misfit("the group of " + head.name + " does not unpack: has its class changed?");
      if (member == nullptr) {
        member = std::move(one);
      } else {
        call_named([&] { return "merge of the class " + head.name + " (a group)"; },
                   [&] { type.merge(member.get(), one.get()); });
      }
    }
    if (member == nullptr) member.reset(type.make());
    core_.groups().skip_to(head.number - 1);
    void* const own_bytes = member.get();
    core_.groups().adopt(core_.groups().open(type), member.release());
    if (type.restored != nullptr) waiting_members_.emplace_back(&type, own_bytes);
  }
  core_.groups().skip_to(numbers_.front().groups);
}

namespace {

/// The part of this rank in a section of which all ranks have told their places; nothing if it has none.
std::optional<detail::section_on_rank> own_part(engine& core, detail::section_on_rank whole) {
  const std::shared_ptr<array_home> array = core.objects().arrays().find(whole.first);
  if (array == nullptr) throw image_misfit("a section of the image has no array");
  const std::uint32_t own_rank = core.rank().value(), root = whole.root % core.size();
  std::set<std::uint32_t> others;
  std::vector<std::uint64_t> places;
  for (const std::uint64_t place : whole.places) {
    const std::uint32_t home = core.objects().homes().home_of(array->name_of(place)).value();
    if (home != root) others.insert(home);
    if (home == own_rank) places.push_back(place);
  }
  std::vector<std::uint32_t> ranks{root};
  ranks.insert(ranks.end(), others.begin(), others.end());
  const auto match = std::ranges::find(ranks, own_rank);
  if (match == ranks.end()) return std::nullopt;
  const tree_place tree =
      place_in_tree(static_cast<std::uint32_t>(match - ranks.begin()), static_cast<std::uint32_t>(ranks.size()));
  whole.places = std::move(places);
  whole.parent = ranks[tree.parent];
  whole.children.clear();
  for (const rank_run& child : tree.children) whole.children.push_back(ranks[child.begin]);
  return whole;
}

}  // namespace

/// Where homes are reckoned, places of sections may have other homes than in the image, which form new trees.
void rank_restorer::install_sections() {
  std::vector<detail::section_on_rank> sections;
  for (const images::sections& file : files_) {
    auto section_on_ranks = read_section<std::vector<detail::section_on_rank>>(file, sections_section, "sections");
    std::move(section_on_ranks.begin(), section_on_ranks.end(), std::back_inserter(sections));
  }
  if (core_.objects().homes().reckoned()) {
    std::map<std::uint64_t, detail::section_on_rank> whole;
    for (const auto& of_rank : runtime(core_, thread_).all_gather(sections)) {
      for (const detail::section_on_rank& part : of_rank) {
        auto& places =
            whole
                .try_emplace(part.section,
                             detail::section_on_rank{.first = part.first, .section = part.section, .root = part.root})
                .first->second.places;
        places.insert(places.end(), part.places.begin(), part.places.end());
      }
    }
    sections.clear();
    for (auto& [number, each] : whole) {
      if (auto rank = own_part(core_, std::move(each))) sections.push_back(std::move(*rank));
    }
  }
  core_.objects().images(thread_).add(sections);
}

void rank_restorer::tell_groups() {
  for (const auto& [type, member] : waiting_members_) type->restored(core_, thread_, member);
}

detail::kept_value rank_restorer::kept() const {
  auto value = read_section<kept_image>(files_.front(), kept_section, "kept value");
  return {{}, value.mark, std::move(value.bytes), false};
}

}  // namespace nacre
