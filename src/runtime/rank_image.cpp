// SPDX-License-Identifier: Apache-2.0
// What is in the file of a rank, section by section.
#include "runtime/rank_image.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <nacre/containers/core.hpp>
#include <nacre/image_rows.hpp>
#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "mobile/image/object_images.hpp"
#include "runtime/engine.hpp"
#include "runtime/image_sections.hpp"

namespace nacre {

namespace {

using pieces = std::deque<writer>;

/// Groups that the job has made behind rt.restored.
std::vector<std::uint32_t> groups_to_pack(engine& core, std::uint32_t groups_before) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t number = groups_before + 1; number <= core.groups().made(); ++number) {
    if (core.groups().look(number).member != nullptr) all.push_back(number);
  }
  return all;
}

/// Packs a vector of group_image.
void pack_groups(engine& core, std::uint32_t groups_before, pieces& section) {
  const std::vector<std::uint32_t> numbers = groups_to_pack(core, groups_before);
  section.emplace_back().write_length(numbers.size());
  for (const std::uint32_t number : numbers) {
    const group_table::member_of_rank rank = core.groups().look(number);
    const std::string name(rank.type->name);
    if (rank.type->save == nullptr) {
      throw image_obstacle("the group " + std::to_string(number) + " of " + name +
                           ", whose class has no serialize, or addresses inside: write one, or make the group before "
                           "rt.restored, in every start anew");
    }
    std::string row = detail::image_name_of(*rank.type);
    if (row.empty()) throw image_obstacle("the group of " + name + ", whose library has been closed");
    writer& head = section.emplace_back();
    writer& member = section.emplace_back();
    call_named([&] { return "serialize of the class " + name + " (a group)"; },
               [&] { rank.type->save(rank.member, member); });
    group_image{number, std::move(row), name, {}}.write_head(head, member.size());
  }
}

/// Packs a vector of container_image.
void pack_containers(engine& core, thread_context& thread, const carried_over& earlier, pieces& section) {
  const auto waits = [](const auto& each) { return each.second.part == nullptr; };  // with elements as they came
  section.emplace_back().write_length(core.containers().parts().size() +
                                      static_cast<std::size_t>(std::ranges::count_if(earlier.containers, waits)));
  for (const auto& [number, part] : core.containers().parts()) {
    const std::string name(part->name());
    if (!part->may_save()) {
      throw image_obstacle("the container " + std::to_string(number) + ", " + name +
                           ", whose elements cannot be packed");
    }
    writer& head = section.emplace_back();
    writer& elements = section.emplace_back();
    {
      const detail::container_hold held(core, thread, *part);
      part->save(elements);
    }
    container_image{number, name, {}}.write_head(head, elements.size());
  }
  for (const auto& [number, each] : earlier.containers) {
    if (each.part == nullptr) section.emplace_back()(number, each.name, each.elements);
  }
}

/// Units that lie elsewhere than at objects.
void pack_held(engine& core, object_images& objects, image_names& names, rank_image& image) {
  if (const auto steps = objects.steps(names); !steps.empty()) image.parts[steps_section].emplace_back()(steps);
  if (const auto delayed = core.images().delayed().pack(names); !delayed.empty())
    image.parts[delayed_section].emplace_back()(delayed);
}

}  // namespace

std::uint64_t rank_image::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [section, pieces] : parts) {
    for (const writer& each : pieces) sum += each.size();
  }
  return sum;
}

rank_image pack_rank(engine& core, thread_context& thread, const detail::kept_value& kept,
                     const carried_over& earlier) {
  if (core.groups().requests().keeps_messages()) throw image_obstacle("messages to a group wait for main's rt.next");
  object_images objects = core.objects().images(thread);
  const bool first = core.rank().value() == 0;
  if (core.messages().held.on() && core.quiet().asked_for_quiescence() > (first ? 1 : 0))  // the wait's own
    throw image_obstacle("a function waits for quiescence (on_quiescence)");
  rank_image image;
  const rank_numbers numbers{objects.numbers(),
                             core.groups().made(),
                             earlier.groups_before,
                             core.containers().next_container(),
                             core.objects().homes().reckoned(),
                             first ? earlier.earlier_births : std::vector<std::uint64_t>()};
  image.parts[numbers_section].emplace_back()(numbers);
  image.parts[arrays_section].emplace_back()(objects.arrays());
  image.parts[sections_section].emplace_back()(objects.sections());
  pack_groups(core, earlier.groups_before, image.parts[groups_section]);
  pack_containers(core, thread, earlier, image.parts[containers_section]);
  image_names names;
  image.objects =
      objects.pack(image.parts[objects_section].emplace_back(), image.parts[lying_section].emplace_back(), names);
  if (image.parts[lying_section].front().size() == 0) image.parts.erase(lying_section);
  if (core.messages().held.on()) pack_held(core, objects, names, image);
  image.parts[names_section].emplace_back()(names);
  if (first) image.parts[kept_section].emplace_back()(kept_image{std::string(kept.class_name), kept.mark, kept.bytes});
  return image;
}

}  // namespace nacre
