// SPDX-License-Identifier: Apache-2.0
// Keeping messages, waiting for them, and going on.
#include "mobile/object/message_waits.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nacre/task.hpp>

#include "base/marks.hpp"
#include "mobile/entry/empty_element.hpp"

namespace nacre {
namespace {

/// The keys of the classes that have members which return nacre::awaited: few, if any.
[[gnu::cold]] std::vector<const void*> keeping_classes(const handler_table& table) {
  std::vector<const void*> keys;
  for (std::uint32_t id = 1; table.handler(id) != nullptr; ++id) {
    if (table.handler(id)->tag != nullptr) keys.push_back(table.handler(id)->target_key);
  }
  return keys;
}

}  // namespace

message_waits::message_waits(am_engine& messages, directory& entries, entry_access& access)
    : messages_(messages),
      entries_(entries),
      access_(access),
      keeping_(keeping_classes(messages.handlers())),
      used_(!keeping_.empty()) {}

/// `waiting`: the messages of the step, where the activation asks: they are looked at with those in the entry when the
/// endings have not been counted. Null where a coroutine asks, beside which the activation may still leave its step.
kept_messages& message_waits::kept_by(object_entry& entry, const message_list* waiting) {
  object_entry_extra& extra = entry.need_extra();
  if (extra.kept == nullptr) extra.kept = std::make_unique<kept_messages>();
  waiting_endings& endings = extra.kept->endings;
  if (waiting == nullptr || endings.counted()) return *extra.kept;
  endings.begin_count();
  const auto count = [&](const message_list& in) {
    for (const message* m = in.front(); m != nullptr; m = m->next) endings.note_waits(m->header);
  };
  count(extra.pending);
  count(*waiting);
  return *extra.kept;
}

/// The row of a message that its object keeps; else null.
const detail::handler_info* message_waits::kept_row(const object_entry& entry, const message& m) const {
  if (m.header.kind != message_kind::object && m.header.kind != message_kind::everyone) return nullptr;
  const detail::handler_info* const row = messages_.handlers().handler(m.header.handler);
  const bool is_here = entry.object() != nullptr && !is_empty_place(entry);
  if (!is_here || row == nullptr || row->tag == nullptr) return nullptr;
  return row->target_key == messages_.handlers().type(entry.type)->key ? row : nullptr;
}

void message_waits::admit_checked(activation_step& step, message_ptr m) {
  if (const detail::handler_info* const row = kept_row(step.entry, *m); row != nullptr) {
    if (kept_by(step.entry, &step.pending).endings.any_of(m->header.source)) {
      step.entry.need_extra().may_wait_to_be_kept = true;
      return step.pending.push_back(std::move(m));
    }
    if (keep(step, *row, std::move(m))) NACRE_MARK("a message comes that a coroutine handler waits for");
    return;
  }
  object_entry_extra* const extra = step.entry.extra();
  if (extra != nullptr && !extra->may_wait_to_be_kept && is_to_be_kept(*m)) extra->may_wait_to_be_kept = true;
  if (extra != nullptr && extra->kept != nullptr && waiting_endings::is_one(m->header)) {
    kept_by(step.entry, &step.pending).endings.note_waits(m->header);
  }
  step.pending.push_back(std::move(m));
}

bool message_waits::keep(activation_step& step, const detail::handler_info& row, message_ptr m) {
  const std::uint64_t tag = row.tag(*m);
  const bool counted = m->counted();
  const bool ready = kept_by(step.entry, &step.pending).keep(std::move(m), tag);
  ++step.entry.need_extra().ran;  // so that those that wait at their sources are cleared to follow
  if (counted) step.thread.counters().done.add(1);
  return ready;
}

void message_waits::keep_front(activation_step& step, const detail::handler_info& row) {
  static_cast<void>(keep(step, row, step.pending.pop_front()));
}

bool message_waits::has_waiter(const object_entry& entry) noexcept {
  const object_entry_extra* const extra = entry.extra();
  return extra != nullptr && extra->kept != nullptr && extra->kept->waiter() != nullptr;
}

step_end message_waits::hold(activation_step& step) {
  object_entry_extra& extra = step.entry.need_extra();  // there is one, as it keeps messages
  // The object stays where it is: a balancer's wish is dropped.
  extra.wanted_by.store(object_entry_extra::nobody, std::memory_order_relaxed);
  step.entry.arrivals.take_move_request();
  detail::message_waiter* const ready = extra.kept->take_ready();
  note_held_up(step.entry, *extra.kept, ready == nullptr && kept_by(step.entry, &step.pending).endings.any());
  if (ready == nullptr) return step_end::parked;
  step.put_back();
  messages_.pool().make_ready(step.thread, *ready->resumption,
                              worker_pool::made_on(step.thread, worker_pool::origin::resumption));
  return step_end::blocked;  // the coroutine has the activation from now on
}

void message_waits::note_ending_run(object_entry& entry, const message& m) noexcept {
  object_entry_extra* const extra = entry.extra();
  if (extra != nullptr && extra->kept != nullptr) extra->kept->endings.note_ran(m.header);
}

/// Notes for take_held_up whether an ending waits for the coroutine that has the object.
void message_waits::note_held_up(const object_entry& entry, kept_messages& kept, bool held_up) {
  if (std::exchange(kept.held_up, held_up) == held_up) return;
  const std::scoped_lock lock(mutex_);
  if (held_up) {
    held_up_.insert(entry.id.value());
  } else {
    held_up_.erase(entry.id.value());
  }
  held_up_count_.store(held_up_.size(), std::memory_order_relaxed);  // a hint
}

std::vector<object_id> message_waits::take_held_up() {
  gives_up_ = false;
  std::vector<object_id> all;
  const std::scoped_lock lock(mutex_);
  for (const std::uint64_t id : held_up_) all.push_back(object_id::from_value(id));
  return all;
}

void message_waits::give_up(activation_step& step) {
  object_entry_extra* const extra = step.entry.extra();
  if (extra != nullptr && extra->kept != nullptr && kept_by(step.entry, &step.pending).endings.any()) {
    extra->kept->give_up();
  }
  step.thread.counters().done.add(1);
}

void message_waits::recount(activation_step& step) {
  object_entry_extra* const extra = step.entry.extra();
  if (extra != nullptr) extra->may_wait_to_be_kept = true;
  if (extra != nullptr && extra->kept != nullptr) extra->kept->endings.forget();
}

/// A message of a kind that objects keep, which had to wait because it found an empty place, or an ending of its
/// source.
bool message_waits::is_to_be_kept(const message& m) const {
  if (m.header.kind != message_kind::object && m.header.kind != message_kind::everyone) return false;
  const detail::handler_info* const row = messages_.handlers().handler(m.header.handler);
  return row != nullptr && row->tag != nullptr;
}

/// Admits all messages again that wait behind the insertion, unless none of them is of a kind that is kept: many
/// insertions may wait at a place.
void message_waits::keep_behind_insertion(activation_step& step) {
  if (step.pending.empty() || !keeps(*messages_.handlers().type(step.entry.type))) return;
  object_entry_extra& extra = step.entry.need_extra();
  if (!std::exchange(extra.may_wait_to_be_kept, false)) return;
  if (extra.kept != nullptr) extra.kept->endings.forget();
  message_list behind = std::move(step.pending);
  while (message_ptr each = behind.pop_front()) admit(step, std::move(each));
}

object_entry& message_waits::entry_of(const detail::message_waiter& waiter) {
  const message_header& request = waiter.coroutine->request();
  const detail::handler_info& row = *messages_.handlers().handler(waiter.coroutine->handler().value());
  const bool on_object = request.kind == message_kind::object || request.kind == message_kind::everyone;
  if (!on_object || row.shared) {
    throw usage_error(
        "ctx.next is for coroutine handlers that are member functions of a mobile object, and not const: they get the "
        "messages of that object");
  }
  object_entry* const entry = entries_.find(object_id::from_value(request.object));
  NACRE_EXPECT(entry != nullptr && entry->object() != nullptr, "an object went away under a coroutine handler");
  return *entry;
}

bool message_waits::take(detail::message_waiter& waiter, const void* target_key) {
  object_entry& entry = entry_of(waiter);
  waiter.entry = &entry;
  if (!detail::same_class(messages_.handlers().type(entry.type)->key, target_key)) {
    throw usage_error("ctx.next for a member of another class than the object's, " +
                      std::string(messages_.handlers().type(entry.type)->name) +
                      ": write ctx.next<&base::f, derived>(step) for a member of a base class");
  }
  object_entry_extra* const extra = entry.extra();
  if (extra != nullptr && extra->kept != nullptr) extra->kept->take(waiter);
  return waiter.ready;
}

void message_waits::keep_again(detail::message_waiter& waiter) { kept_by(*waiter.entry, nullptr).keep_again(waiter); }

/// See object_entry::coroutine for the two threads that may meet here.
void message_waits::wait(detail::message_waiter& waiter) {
  object_entry& entry = *waiter.entry;
  thread_context& thread = waiter.coroutine->ctx.current_thread();
  const object_entry_extra& extra = entry.need_extra();
  const bool nothing_else = extra.windows == nullptr && extra.pending.empty();  // as far as this activation knows
  kept_by(entry, nullptr).wait(waiter);
  // acq_rel: pairs with the exchange in object_activation::run_exclusive; the later one gives the activation back.
  const auto coroutine = entry.exclusive_coroutine.exchange(object_entry::coroutine::parked, std::memory_order_acq_rel);
  NACRE_ASSERT(coroutine == object_entry::coroutine::inline_ || coroutine == object_entry::coroutine::suspended,
               "a coroutine waits for a message of an object that it does not have");
  if (coroutine == object_entry::coroutine::inline_) return;
  entry.exclusive_coroutine.store(object_entry::coroutine::suspended, std::memory_order_relaxed);  // published below
  if (messages_.pool().ahead()) return access_.end_when_spent(entry, thread, entry_access::kind::exclusive);
  // A step clears senders, and knows the endings.
  if (nothing_else && entry.arrivals.finish() == inbox::finished::yes) return;
  access_.reschedule(entry, thread, worker_pool::made_on(thread, worker_pool::origin::resumption));
}

}  // namespace nacre
