// SPDX-License-Identifier: Apache-2.0
// Contributions: messages of other ranks, and what is said of those that do not fit.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mobile/array/contributions.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

/// Such as "step 7 of array 2: 64 x 64 of cell".
std::string contributions::step_text(const array_home& array, const contribution_head& head) const {
  return "step " + std::to_string(head.step) + (head.section != 0 ? " of a section of " : " of ") +
         space_.arrays().describe(array.first);
}

std::string contributions::outside_text(const array_home& array, std::uint64_t place) const {
  const object_id element(rank_id(0), object_id::first_element + array.first + place);
  return space_.arrays().name_of(element) +
         " contributes to a section that does not have its place: send what contributes to the section only "
         "(rt.send<F>(section)), or make the section with this place, too";
}

std::string contributions::text_of(steps::refusal refusal, const array_home& array, const contributing_set& set,
                                   std::uint64_t place, const contribution_head& head) const {
  const object_id id(rank_id(0), object_id::first_element + array.first + place);
  const std::string element = space_.arrays().name_of(id) + " (" + std::string(array.layout.type->name) + ")";
  const std::string step = " step " + std::to_string(head.step) + (head.section != 0 ? " of a section" : "");
  if (refusal == steps::refusal::twice) {
    return element + " contributes twice to" + step + ": give one value for each step, and number steps 0, 1, 2, ...";
  }
  if (refusal == steps::refusal::ended) {
    return element + " contributes to" + step +
           ", which has ended: use each number for one step, and let an element that is inserted begin with a step " +
           "that no other element has begun";
  }
  const contribution_head* const other = set.steps.head_of(head);
  const auto name = [&](std::uint32_t row) { return std::string(messages_.handlers().handler(row)->name); };
  const bool same = other == nullptr || other->row == head.row;
  return element + " contributes to" + step + " otherwise than others do (" +
         (same ? "to another target" : name(head.row) + " instead of " + name(other->row)) +
         "): write one handler, one operation and one target in all contributions to a step";
}

/// The array and the set of a message of a peer.
contributions::receiver contributions::receiver_of(context& ctx, const contribution_head& head, std::uint64_t place) {
  using kind = detail::contribution_target::kind;
  const std::string sender = "rank " + std::to_string(ctx.source().value());
  const detail::handler_info* const row = messages_.handlers().handler(head.row);
  const bool named = row != nullptr && row->target_key == detail::key_of<detail::contribution_values>();
  bool sound = named && messages_.handlers().handler(head.handler) != nullptr &&
               head.kind <= static_cast<std::uint8_t>(kind::array);
  if (sound && static_cast<kind>(head.kind) == kind::rank) sound = head.target < messages_.size();
  if (sound && static_cast<kind>(head.kind) == kind::array) sound = head.target != 0;
  if (sound && static_cast<kind>(head.kind) == kind::object)
    sound = space_.homes().knows(object_id::from_value(head.target));
  array_ptr array = sound ? space_.arrays().find(head.first) : nullptr;
  if (array != nullptr && place != steps::no_place) sound = place < array->layout.shape.count();
  if (!sound || (array != nullptr && array->first != head.first)) {
    messages_.fail(sender + " sent a contribution that makes no sense");
    return {};
  }
  set_ptr set;
  if (array != nullptr) {
    const std::scoped_lock lock(array->steps_mutex);
    set = array->sets.find(head.section);
  }
  if (set == nullptr) report_lost(detail::thread_of(ctx), array.get(), head, place);
  return {std::move(array), std::move(set)};
}

void contributions::on_value(context& ctx, contribution_head head, std::uint64_t number, std::uint32_t epoch,
                             std::span<const std::byte> value) {
  const auto [array, set] = receiver_of(ctx, head, number);
  if (array == nullptr) return;
  thread_context& thread = detail::thread_of(ctx);
  if (!space_.arrays().is_home_of(*array, number)) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " sent a contribution to a rank that is not the home of its element");
  }
  steps::effects then;
  std::vector<contributing_sets::consequence> settled;
  std::string refused;
  {
    const std::scoped_lock lock(array->steps_mutex);
    if (set == nullptr) {
      // nobody waits for the value any more
    } else if (set->steps.dropped()) {
      report_lost(thread, array.get(), head, number);
    } else if (!array->sets.has(*set, number)) {
      refused = outside_text(*array, number);
    } else if (const auto refusal = set->steps.give(array->sets.contributor_of(number), head, value, then);
               refusal != steps::refusal::none) {
      refused = text_of(refusal, *array, *set, number, head);
    }
    settled = array->sets.message_came(number, epoch);  // also of a value that nobody waits for any more
    thread.counters().created.add(then.opened);
  }
  if (!refused.empty()) return messages_.fail(refused);
  if (set != nullptr) apply(thread, array, set, std::move(then));
  apply(thread, array, std::move(settled));
}

/// The number of the child that has sent a message; the number of children: none has.
std::size_t contributions::child_of(context& ctx, const contributing_set& set) {
  const std::vector<rank_run>& children = set.tree.children;
  std::size_t child = 0;
  while (child < children.size() && children[child].begin != ctx.source().value()) ++child;
  if (child == children.size()) {
    messages_.fail("rank " + std::to_string(ctx.source().value()) +
                   " sent a contribution to a rank that is not above it");
  }
  return child;
}

void contributions::on_part(context& ctx, contribution_head head, std::uint64_t first_place,
                            std::span<const std::byte> value) {
  const auto [array, set] = receiver_of(ctx, head, first_place);
  if (set == nullptr) return;
  const std::size_t child = child_of(ctx, *set);
  if (child == set->tree.children.size()) return;
  steps::effects then;
  std::optional<packed_value> part;
  if (first_place != steps::no_place) part.emplace(value.begin(), value.end());
  steps::refusal refusal{};
  {
    const std::scoped_lock lock(array->steps_mutex);
    if (set->steps.dropped()) return report_lost(detail::thread_of(ctx), array.get(), head, first_place);
    refusal = set->steps.take_part(child, head, std::move(part), then, first_place);
    detail::thread_of(ctx).counters().created.add(then.opened);
  }
  if (refusal != steps::refusal::none) return refuse_part(*array, head, refusal);
  apply(detail::thread_of(ctx), array, set, std::move(then));
}

void contributions::refuse_part(const array_home& array, const contribution_head& head, steps::refusal refusal) {
  const std::string name = step_text(array, head);
  messages_.fail(
      refusal == steps::refusal::other_head
          ? "the elements contribute to " + name +
                " in different ways: write one handler, one operation and one target in all contributions to "
                "a step; the one here is " +
                std::string(messages_.handlers().handler(head.row)->name)
          : name + " has been completed twice: use each number for one step");
}

void contributions::on_ask(context& ctx, contribution_head head) {
  const auto [array, set] = receiver_of(ctx, head, steps::no_place);
  if (set == nullptr) return;
  if (set->root || ctx.source().value() != set->tree.parent)
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " asks for a step of contributions");
  steps::effects then;
  steps::refusal refusal{};
  {
    const std::scoped_lock lock(array->steps_mutex);
    if (set->steps.dropped()) return;  // no value is lost here
    refusal = set->steps.ask(head, then);
    detail::thread_of(ctx).counters().created.add(then.opened);
  }
  if (refusal != steps::refusal::none) return refuse_part(*array, head, refusal);
  apply(detail::thread_of(ctx), array, set, std::move(then));
}

void contributions::on_wanting(context& ctx, std::uint64_t first, std::uint64_t section) {
  const array_ptr array = space_.arrays().find(first);
  if (array == nullptr) return;  // it has ended, and its steps with it
  set_ptr set;
  {
    const std::scoped_lock lock(array->steps_mutex);
    set = array->sets.find(section);
  }
  if (set == nullptr) return;
  const std::size_t child = child_of(ctx, *set);
  if (child == set->tree.children.size()) return;
  steps::effects then;
  {
    const std::scoped_lock lock(array->steps_mutex);
    set->steps.child_wants(child, then);
  }
  apply(detail::thread_of(ctx), array, set, std::move(then));
}

}  // namespace nacre
