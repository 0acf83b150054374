// SPDX-License-Identifier: Apache-2.0
// What is in the file of a rank, section by section.
#include "runtime/rank_image.hpp"

#include <exception>
#include <utility>

#include <nacre/containers/core.hpp>
#include <nacre/image_rows.hpp>
#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "mobile/image/object_images.hpp"
#include "runtime/engine.hpp"

namespace nacre {
namespace {

enum section : std::uint32_t {
  numbers_section = 1,
  names_section,
  arrays_section,
  sections_section,
  groups_section,
  containers_section,
  objects_section,
  kept_section
};

/// The numbers from which the rank counts on.
struct rank_numbers {
  object_numbers objects;
  std::uint32_t groups = 0, groups_before = 0, containers = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(objects, groups, groups_before, containers);
  }
};
struct group_image {
  std::uint32_t number = 0;
  std::string row, name;  ///< mangled, and for people
  std::vector<std::byte> member;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, row, name, member);
  }
};
struct container_image {
  std::uint32_t number = 0;
  std::string name;
  std::vector<std::byte> elements;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, name, elements);
  }
};
struct kept_image {
  std::string class_name;
  std::uint32_t mark = 0;
  std::vector<std::byte> bytes;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(class_name, mark, bytes);
  }
};

std::vector<std::byte> bytes_of(const writer& from) { return {from.bytes().begin(), from.bytes().end()}; }

std::vector<group_image> pack_groups(engine& core, std::uint32_t groups_before) {
  std::vector<group_image> all;
  for (std::uint32_t number = groups_before + 1; number <= core.groups().made(); ++number) {
    const group_table::member_of_rank own = core.groups().look(number);
    if (own.member == nullptr) continue;
    const std::string name(own.type->name);
    if (own.type->save == nullptr) {
      throw image_obstacle("the group " + std::to_string(number) + " of " + name +
                           ", whose class has no serialize, or addresses inside: write one, or make the group before "
                           "rt.restored, in every start anew");
    }
    const detail::group_row* const row = detail::find_group_row(detail::name_of_group_row(*own.type));
    if (row == nullptr) throw image_obstacle("the group of " + name + ", whose library has been closed");
    writer packed;
    call_named([&] { return "serialize of the class " + name + " (a group)"; },
               [&] { own.type->save(own.member, packed); });
    all.push_back({number, std::string(row->name), name, bytes_of(packed)});
  }
  return all;
}

std::vector<container_image> pack_containers(engine& core, thread_context& on, const saved_containers& untaken) {
  std::vector<container_image> all;
  for (const auto& [number, part] : core.containers().parts()) {
    const std::string name(part->name());
    if (!part->may_save()) {
      throw image_obstacle("the container " + std::to_string(number) + ", " + name +
                           ", whose elements cannot be packed");
    }
    writer packed;
    const detail::container_hold held(core, on, *part);
    part->save(packed);
    all.push_back({number, name, bytes_of(packed)});
  }
  for (const auto& [number, each] : untaken.waiting) all.push_back({number, each.name, each.elements});
  return all;
}

}  // namespace

std::uint64_t rank_image::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [section, each] : parts) sum += each.size();
  return sum;
}

rank_image pack_rank(engine& core, thread_context& on, const detail::kept_value& kept, std::uint32_t groups_before,
                     const saved_containers& untaken) {
  if (core.groups().requests().keeps_messages()) throw image_obstacle("messages to a group wait for main's rt.next");
  object_images objects(core.objects(), core.messages(), on);
  rank_image image;
  const rank_numbers numbers{objects.numbers(), core.groups().made(), groups_before,
                             core.containers().next_container()};
  image.parts[numbers_section] = pack(numbers);
  image.parts[arrays_section] = pack(objects.arrays());
  image.parts[sections_section] = pack(objects.sections());
  image.parts[groups_section] = pack(pack_groups(core, groups_before));
  image.parts[containers_section] = pack(pack_containers(core, on, untaken));
  image_names names;
  writer packed;
  image.objects = objects.pack(packed, names);
  image.parts[objects_section] = bytes_of(packed);
  image.parts[names_section] = pack(names);
  if (core.rank().value() == 0)
    image.parts[kept_section] = pack(kept_image{std::string(kept.class_name), kept.mark, kept.bytes});
  return image;
}

template <class T>
T rank_restorer::read(std::uint32_t section, const char* what) const {
  const auto found = parts_.find(section);
  if (found != parts_.end()) {
    expected<T, wire_error> value = unpack<T>(found->second);
    if (value) return std::move(*value);
  }
  throw image_misfit(std::string("the image has no ") + what + " that this version of Nacre can read");
}

void rank_restorer::check(std::uint32_t groups_before) {
  const auto numbers = read<rank_numbers>(numbers_section, "numbers");
  if (numbers.groups_before != groups_before) {
    throw image_misfit("the program made " + std::to_string(numbers.groups_before) +
                       " groups before rt.restored when the image was taken, and makes " +
                       std::to_string(groups_before) + " now: make the same ones");
  }
  read<image_names>(names_section, "names").resolve();
  for (const array_image& each : read<std::vector<array_image>>(arrays_section, "arrays")) {
    if (detail::find_array_row(each.row) == nullptr)
      throw image_misfit("the image has an array of " + each.type + " that this program does not mention");
  }
  for (const group_image& each : read<std::vector<group_image>>(groups_section, "groups")) {
    const detail::group_row* const row = detail::find_group_row(each.row);
    if (row == nullptr || row->type->load == nullptr)
      throw image_misfit("the image has a group of " + each.name + " that this program cannot make");
  }
}

void rank_restorer::open() {
  object_images(core_.objects(), core_.messages(), on_)
      .open(read<std::vector<array_image>>(arrays_section, "arrays"),
            read<rank_numbers>(numbers_section, "numbers").objects);
}

namespace {

/// A handler: objects with their home here lie at the sender.
void objects_at_source(context& ctx, const std::vector<object_elsewhere>& objects) {
  object_images(ctx.core().objects(), ctx.core().messages(), ctx.current_thread()).tell_home(ctx.source(), objects);
}

}  // namespace

void rank_restorer::install(saved_containers& containers) {
  object_images objects(core_.objects(), core_.messages(), on_);
  const auto numbers = read<rank_numbers>(numbers_section, "numbers");
  auto names = read<image_names>(names_section, "names");
  names.resolve();
  install_groups();
  core_.groups().skip_to(numbers.groups);
  core_.containers().go_on_behind(numbers.containers);
  for (container_image& each : read<std::vector<container_image>>(containers_section, "containers")) {
    containers.waiting[each.number] = {std::move(each.name), std::move(each.elements)};
  }
  const auto packed = parts_.find(objects_section);
  std::map<std::uint32_t, std::vector<object_elsewhere>> elsewhere;
  if (packed != parts_.end()) elsewhere = objects.install(packed->second, names);
  parts_.erase(objects_section);
  runtime rt(core_, on_);
  std::vector<future<void>> told;
  for (const auto& [home, each] : elsewhere) told.push_back(rt.call<&objects_at_source>(rank_id(home), each));
  for (future<void>& each : told) each.get();
  objects.add(read<std::vector<detail::section_on_rank>>(sections_section, "sections"));
}

void rank_restorer::install_groups() {
  for (const group_image& each : read<std::vector<group_image>>(groups_section, "groups")) {
    const detail::group_type& type = *detail::find_group_row(each.row)->type;
    reader in(each.member);
    void* const member =
        call_named([&] { return "serialize of the class " + each.name + " (a group)"; }, [&] { return type.load(in); });
    if (member == nullptr || !in.finish()) {
      if (member != nullptr) type.destroy(member);
      throw image_misfit("the group of " + each.name + " does not unpack: has its class changed?");
    }
    core_.groups().skip_to(each.number - 1);
    core_.groups().adopt(core_.groups().open(type), member);
    if (type.restored != nullptr) type.restored(core_, member);
  }
}

detail::kept_value rank_restorer::kept() {
  auto value = read<kept_image>(kept_section, "kept value");
  return {{}, value.mark, std::move(value.bytes), false};
}

}  // namespace nacre
