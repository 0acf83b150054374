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
#include "runtime/image_sections.hpp"

namespace nacre {

namespace {

std::vector<std::byte> bytes_of(const writer& writer) { return {writer.bytes().begin(), writer.bytes().end()}; }

std::vector<group_image> pack_groups(engine& core, std::uint32_t groups_before) {
  std::vector<group_image> all;
  for (std::uint32_t number = groups_before + 1; number <= core.groups().made(); ++number) {
    const group_table::member_of_rank rank = core.groups().look(number);
    if (rank.member == nullptr) continue;
    const std::string name(rank.type->name);
    if (rank.type->save == nullptr) {
      throw image_obstacle("the group " + std::to_string(number) + " of " + name +
                           ", whose class has no serialize, or addresses inside: write one, or make the group before "
                           "rt.restored, in every start anew");
    }
    std::string row = detail::image_name_of(*rank.type);
    if (row.empty()) throw image_obstacle("the group of " + name + ", whose library has been closed");
    writer packed;
    call_named([&] { return "serialize of the class " + name + " (a group)"; },
               [&] { rank.type->save(rank.member, packed); });
    all.push_back({number, std::move(row), name, bytes_of(packed)});
  }
  return all;
}

std::vector<container_image> pack_containers(engine& core, thread_context& thread, const carried_over& earlier) {
  std::vector<container_image> all;
  for (const auto& [number, part] : core.containers().parts()) {
    const std::string name(part->name());
    if (!part->may_save()) {
      throw image_obstacle("the container " + std::to_string(number) + ", " + name +
                           ", whose elements cannot be packed");
    }
    writer packed;
    const detail::container_hold held(core, thread, *part);
    part->save(packed);
    all.push_back({number, name, {bytes_of(packed)}});
  }
  for (const auto& [number, each] : earlier.containers) {
    if (each.part == nullptr) all.push_back({number, each.name, each.elements});
  }
  return all;
}

/// Units that lie elsewhere than at objects.
void pack_held(engine& core, object_images& objects, image_names& names, images::sections& parts) {
  if (const auto steps = objects.steps(names); !steps.empty()) parts[steps_section] = pack(steps);
  if (const auto delayed = core.images().delayed().pack(names); !delayed.empty())
    parts[delayed_section] = pack(delayed);
}

}  // namespace

std::uint64_t rank_image::bytes() const noexcept {
  std::uint64_t sum = packed_objects != nullptr ? packed_objects->size() : 0;
  for (const auto& [section, each] : parts) sum += each.size();
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
  image.parts[numbers_section] = pack(numbers);
  image.parts[arrays_section] = pack(objects.arrays());
  image.parts[sections_section] = pack(objects.sections());
  image.parts[groups_section] = pack(pack_groups(core, earlier.groups_before));
  image.parts[containers_section] = pack(pack_containers(core, thread, earlier));
  image_names names;
  image.packed_objects = std::make_unique<writer>();
  writer lying;
  image.objects = objects.pack(*image.packed_objects, lying, names);
  if (lying.size() != 0) image.parts[lying_section] = bytes_of(lying);
  if (core.messages().held.on()) pack_held(core, objects, names, image.parts);
  image.parts[names_section] = pack(names);
  if (first) image.parts[kept_section] = pack(kept_image{std::string(kept.class_name), kept.mark, kept.bytes});
  return image;
}

}  // namespace nacre
