// SPDX-License-Identifier: Apache-2.0
// Contributions: messages of other ranks, and what is said of those that do not fit.
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "mobile/array/contributions.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

std::string contributions::text_of(steps::refusal why, const array_home& array, std::uint64_t place,
                                   const contribution_head& head) const {
  const std::string element = "the element at " + to_string(array.layout.shape.place_of(place)) + " of " +
                              space_.arrays().describe(array.first);
  const std::string step = " step " + std::to_string(head.step);
  if (why == steps::refusal::twice) {
    return element + " contributes twice to" + step + ": give one value for each step, and number steps 0, 1, 2, ...";
  }
  if (why == steps::refusal::ended) {
    return element + " contributes to" + step +
           ", which has ended: use each number for one step, and let an element that is inserted begin with a step " +
           "that no other element has begun";
  }
  const contribution_head* const other = array.steps.head_of(head.step);
  const auto name = [&](std::uint32_t row) { return std::string(messages_.handlers().handler(row)->name); };
  const bool same = other == nullptr || other->row == head.row;
  return element + " contributes to" + step + " otherwise than others do (" +
         (same ? "to another target" : name(head.row) + " instead of " + name(other->row)) +
         "): write one handler, one operation and one target in all contributions to a step";
}

/// The array of a message of a peer. Null: it has been dealt with.
std::shared_ptr<array_home> contributions::array_of(context& ctx, const contribution_head& head) {
  using kind = detail::contribution_target::kind;
  const std::string sender = "rank " + std::to_string(ctx.source().value());
  const detail::handler_info* const row = messages_.handlers().handler(head.row);
  const bool named = row != nullptr && row->target_key == detail::key_of<detail::contribution_values>();
  bool sound = named && head.kind <= static_cast<std::uint8_t>(kind::array);
  if (sound && static_cast<kind>(head.kind) == kind::rank) sound = head.target < messages_.size();
  if (sound && static_cast<kind>(head.kind) == kind::array) sound = head.target != 0;
  if (sound && static_cast<kind>(head.kind) == kind::object)
    sound = object_id::from_value(head.target).home().value() < messages_.size() && head.target != 0;
  std::shared_ptr<array_home> array = sound ? space_.arrays().find(head.first) : nullptr;
  if (!sound || (array != nullptr && array->first != head.first)) {
    messages_.fail(sender + " sent a contribution that makes no sense");
    return nullptr;
  }
  if (array == nullptr) {
    report_lost(detail::thread_of(ctx), head);
  }
  return array;
}

void contributions::on_value(context& ctx, contribution_head head, std::uint64_t number, std::uint32_t epoch,
                             std::span<const std::byte> value) {
  const std::shared_ptr<array_home> array = array_of(ctx, head);
  if (array == nullptr) return;
  const detail::array_layout& layout = array->layout;
  if (number >= layout.shape.count() || layout.home(layout.shape, number, messages_.size()) != messages_.rank()) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " sent a contribution to a rank that is not the home of its element");
  }
  steps::effects then;
  std::string refused;
  {
    const std::scoped_lock lock(array->steps_mutex);
    if (array->steps.dropped()) return report_lost(detail::thread_of(ctx), head);
    array->steps.count_message(number, epoch);
    const auto why = array->steps.give(number, head, value, then);
    if (why != steps::refusal::none) refused = text_of(why, *array, number, head);
    detail::thread_of(ctx).counters().created.add(then.opened);
  }
  if (!refused.empty()) return messages_.fail(refused);
  apply(detail::thread_of(ctx), array, std::move(then));
}

/// The number of the child that has sent a message; the number of children: none has.
std::size_t contributions::child_of(context& ctx, const array_home& array) {
  const std::vector<rank_run>& children = array.tree.children;
  std::size_t child = 0;
  while (child < children.size() && children[child].begin != ctx.source().value()) ++child;
  if (child == children.size()) {
    messages_.fail("rank " + std::to_string(ctx.source().value()) +
                   " sent a contribution to a rank that is not above it");
  }
  return child;
}

void contributions::on_part(context& ctx, contribution_head head, bool has_value, std::span<const std::byte> value) {
  const std::shared_ptr<array_home> array = array_of(ctx, head);
  if (array == nullptr) return;
  const std::size_t child = child_of(ctx, *array);
  if (child == array->tree.children.size()) return;
  steps::effects then;
  std::optional<packed_value> part;
  if (has_value) part.emplace(value.begin(), value.end());
  steps::refusal why{};
  {
    const std::scoped_lock lock(array->steps_mutex);
    if (array->steps.dropped()) return report_lost(detail::thread_of(ctx), head);
    why = array->steps.take_part(child, head, std::move(part), then);
    detail::thread_of(ctx).counters().created.add(then.opened);
  }
  if (why != steps::refusal::none) return refuse_part(*array, head, why);
  apply(detail::thread_of(ctx), array, std::move(then));
}

void contributions::refuse_part(const array_home& array, const contribution_head& head, steps::refusal why) {
  const std::string of = "step " + std::to_string(head.step) + " of " + space_.arrays().describe(array.first);
  messages_.fail(
      why == steps::refusal::other_head
          ? "the elements contribute to " + of +
                " in different ways: write one handler, one operation and one target in all contributions to "
                "a step; the one here is " +
                std::string(messages_.handlers().handler(head.row)->name)
          : of + " has been completed twice: use each number for one step");
}

void contributions::on_ask(context& ctx, contribution_head head) {
  const std::shared_ptr<array_home> array = array_of(ctx, head);
  if (array == nullptr) return;
  if (ctx.source().value() != array->tree.parent)
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " asks for a step of contributions");
  steps::effects then;
  steps::refusal why{};
  {
    const std::scoped_lock lock(array->steps_mutex);
    if (array->steps.dropped()) return report_lost(detail::thread_of(ctx), head);
    why = array->steps.ask(head, then);
    detail::thread_of(ctx).counters().created.add(then.opened);
  }
  if (why != steps::refusal::none) return refuse_part(*array, head, why);
  apply(detail::thread_of(ctx), array, std::move(then));
}

void contributions::on_wanting(context& ctx, std::uint64_t first) {
  const std::shared_ptr<array_home> array = space_.arrays().find(first);
  if (array == nullptr) return;  // it has ended, and its steps with it
  const std::size_t child = child_of(ctx, *array);
  if (child == array->tree.children.size()) return;
  steps::effects then;
  {
    const std::scoped_lock lock(array->steps_mutex);
    array->steps.child_wants(child, then);
  }
  apply(detail::thread_of(ctx), array, std::move(then));
}

}  // namespace nacre
