// SPDX-License-Identifier: Apache-2.0
// A message to all elements: down the tree of ranks, and to the places of this one.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>

#include "mobile/array/array_space.hpp"
#include "mobile/array/reduction.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

// A part runs handlers itself for that long, and longer while they are that short, before it leaves them to all
// workers.
constexpr double seconds_in_place = 10e-6, seconds_of_short = 250e-9;
constexpr std::size_t ahead_of_use = 8;  // places prefetched: entries, then their elements

}  // namespace

/// One message to all elements, as the parts of this rank share it.
struct array_space::broadcast {
  std::shared_ptr<array_home> array;
  broadcast_header head;
  message_ptr model;                   ///< the element's message but for target, number and reply
  std::shared_ptr<reduction> results;  ///< null: no caller waits

  /// The share of a part: the broadcast, and the slot of the part's result.
  struct share {
    std::shared_ptr<broadcast> what;
    std::size_t slot;
    std::shared_ptr<array_part> part;
  };
  static share& of(message& m) noexcept { return *std::launder(reinterpret_cast<share*>(m.body())); }
  static void destroy(message& m) noexcept { std::destroy_at(&of(m)); }
  static constexpr body_ops ops{nullptr, nullptr, &destroy};
};

/// The ranks behind this one form adjacent runs, each headed by a child; so results come in the order of the ranks.
void array_space::begin(thread_context& thread, const std::shared_ptr<array_home>& array,
                        const early_broadcast& order) {
  const broadcast_header& head = order.head;
  auto rule = std::make_shared<broadcast>();
  rule->array = array;
  rule->head = head;
  rule->model = model_of(head, order.arguments);

  std::vector<std::shared_ptr<array_part>> parts;
  {
    const std::scoped_lock lock(array->mutex);
    if (head.handler == 0) array->closing = true;
    parts.reserve(array->parts.size());
    for (const auto& [number, each] : array->parts) parts.push_back(each);
  }
  const std::size_t children = children_of({messages_.rank().value(), head.end}).size();
  if (head.reply != 0) {
    rule->results = std::make_shared<reduction>(
        messages_.calls(), parts.size() + children, combine_by(head.fold),
        [this, head](message_ptr result, thread_context& last) {
          if (messages_.rank().value() == 0 && reduction::is_none(*result)) {
            result = head.fold == 0 ? make_message(0) : am_engine::make_failure("the array has no element", {});
          }
          answer(last, head, std::move(result));
        });
  }
  pass_down(thread, order, rule->results, parts.size());
  for (std::size_t slot = 0; slot < parts.size(); ++slot) {
    message_ptr m = make_message(sizeof(broadcast::share));
    ::new (static_cast<void*>(m->body())) broadcast::share{rule, slot, parts[slot]};
    m->ops = &broadcast::ops;
    thread.counters().created.add(1);
    if (parts[slot]->arrivals.push(m.release())) messages_.pool().make_ready(thread, *parts[slot]);
  }
  if (rule->results != nullptr) rule->results->count_down(thread);
}

void array_space::pass_down(thread_context& thread, const early_broadcast& order,
                            const std::shared_ptr<reduction>& results, std::size_t slot) {
  const std::uint32_t self = messages_.rank().value();
  for (const rank_run& child : children_of({self, order.head.end})) {
    broadcast_header below = order.head;
    below.answer_to = self;
    below.end = child.end;
    below.reply = results != nullptr ? reduction::expect(results, slot++) : 0;
    messages_.post_application_to_module<&array_space::on_broadcast>(thread, rank_id(child.begin), below,
                                                                     std::span<const std::byte>(order.arguments));
  }
}

void array_space::run_part(work& item, thread_context& thread) {
  auto& part = static_cast<array_part&>(item);
  object_space& objects = object_space::on_thread(thread);
  message_list taken;
  const bool claimed = part.arrivals.claim(taken);
  NACRE_ASSERT(claimed, "a part of an array was run twice");
  std::shared_ptr<array_part> keep;
  while (message_ptr m = taken.pop_front()) {
    const broadcast::share& share = broadcast::of(*m);
    keep = share.part;
    objects.arrays().run_broadcast(part, *share.what, share.slot, thread);
    m.reset();
    thread.counters().done.add(1);
  }
  if (part.arrivals.finish() == inbox::finished::messages_came) {
    part.arrivals.requeue();
    thread.pool().make_ready(thread, part);
  } else if (part.ended.load(std::memory_order_acquire)) {  // pairs with retire_place
    array_places::retire_part(thread, std::move(keep));
  }
}

/// Combines two results by a row of the handler table; null for row 0.
reduction::combine array_space::combine_by(std::uint32_t fold) {
  const detail::handler_info* const row = fold != 0 ? messages_.handlers().handler(fold) : nullptr;
  if (row == nullptr) return nullptr;
  return [this, row](std::vector<std::byte>& sum, std::span<const std::byte> next, thread_context& thread) {
    detail::folding step{sum, next};
    message_ptr no_message;
    return row->invoke(messages_.core(), thread, no_message, &step, row->id) == detail::outcome::done;
  };
}

/// The message for an element, but for target, number and reply.
message_ptr array_space::model_of(const broadcast_header& head, std::span<const std::byte> arguments) {
  message_ptr m = make_message(arguments.size());
  if (!arguments.empty()) std::memcpy(m->body(), arguments.data(), arguments.size());
  m->header.kind = message_kind::everyone;
  m->header.handler = head.handler;
  m->header.flags = head.flags;
  m->header.channel = head.channel;
  return m;
}

/// A message for one more element.
message_ptr array_space::copy_of(const message& model) {
  message_ptr m = make_message(model.header.payload_bytes);
  m->header = model.header;
  if (model.header.payload_bytes != 0) std::memcpy(m->body(), model.body(), model.header.payload_bytes);
  return m;
}

/// The message's handler if it is plain: exclusive, no coroutine, of elements without a load of their own. Else null.
const detail::handler_info* array_space::plain_handler(const array_home& array, const message& model) const {
  const detail::object_type& type = *array.layout.type;
  if (model.header.handler == 0 || type.load != nullptr || type.may_migrate != nullptr) return nullptr;
  const detail::handler_info* const row = messages_.handlers().handler(model.header.handler);
  const bool plain =
      row != nullptr && row->target_key == type.key && !row->shared && !row->coroutine && row->tag == nullptr;
  return plain ? row : nullptr;
}

/// Runs handlers here, one after the other, while they are short; else posts the message to each remaining place.
void array_space::run_broadcast(array_part& part, const broadcast& broadcast, std::size_t slot,
                                thread_context& thread) {
  std::vector<object_entry*> object_entries;
  object_entries.reserve(part.places.size());
  for (const std::atomic<object_entry*>& place : part.places) {
    // acquire: pairs with the store in note_place.
    if (object_entry* const touched = place.load(std::memory_order_acquire)) object_entries.push_back(touched);
  }
  std::shared_ptr<reduction> results;
  if (broadcast.results != nullptr) {
    results = std::make_shared<reduction>(messages_.calls(), object_entries.size(), combine_by(broadcast.head.fold),
                                          [whole = broadcast.results, slot](message_ptr result, thread_context& last) {
                                            whole->give(slot, std::move(result), last);
                                          });
  }
  const message& model = *broadcast.model;
  const std::uint64_t begin = messages_.pool().instant();
  const double a_second = 1 / messages_.pool().seconds_a_tick();
  const auto bound = static_cast<std::uint64_t>(seconds_in_place * a_second);
  const auto of_short = static_cast<std::uint64_t>(seconds_of_short * a_second);
  const detail::handler_info* const plain = plain_handler(*broadcast.array, model);
  const std::uint64_t timed_before = thread.counters().handler_ticks.read();
  bool in_place = true;
  message_ptr m;  // the next element's
  for (std::size_t each = 0; each < object_entries.size(); ++each) {
    if (each + ahead_of_use < object_entries.size()) {
      __builtin_prefetch(object_entries[each + ahead_of_use], 1);
      object_entries[each + ahead_of_use / 2]->prefetch_object();
    }
    if (m == nullptr) m = copy_of(model);
    if (results != nullptr) m->header.reply = reduction::expect(results, each);
    if (!in_place || !objects_.places().run_on_idle_place(thread, *object_entries[each], m, plain)) {
      objects_.places().post_to_place(thread, *object_entries[each], std::move(m));
    }
    if (in_place && (each & (each + 1)) == 0) {  // at 1, 2, 4, 8, ...
      const std::uint64_t spent = messages_.pool().instant() - begin;
      in_place = !messages_.pool().ahead() && spent < std::max<std::uint64_t>(bound, of_short * (each + 1));
    }
  }
  if (plain != nullptr &&
      !objects_.activation().times_each_step()) {  // handlers not timed singly are timed here, as a whole
    const std::uint64_t spent = messages_.pool().instant() - begin;
    const std::uint64_t timed = thread.counters().handler_ticks.read() - timed_before;
    thread.counters().handler_ticks.add(spent - std::min(spent, timed));
  }
  if (results != nullptr) results->count_down(thread);
}

}  // namespace nacre
