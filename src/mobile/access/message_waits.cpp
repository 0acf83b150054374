// SPDX-License-Identifier: Apache-2.0
// Keeping messages, waiting for them, and going on.
#include "mobile/access/message_waits.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nacre/task.hpp>

#include "base/marks.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

constexpr std::size_t uncounted = ~std::size_t{0};  // endings that nobody has counted yet

/// Whether an element ends by a message, or a place gets its next element.
bool is_ending(const message& m) noexcept {
  const message_kind kind = m.header.kind;
  return kind == message_kind::destroy || kind == message_kind::insert ||
         (kind == message_kind::everyone && m.header.handler == 0);
}

/// Whether the program has a member that returns nacre::awaited.
bool any_is_kept(const handler_table& table) noexcept {
  std::uint32_t id = 1;
  while (table.handler(id) != nullptr && table.handler(id)->tag == nullptr) ++id;
  return table.handler(id) != nullptr;
}

}  // namespace

message_waits::message_waits(object_space& space, am_engine& messages)
    : space_(space), messages_(messages), used_(any_is_kept(messages.handlers())) {}

/// `waiting`: the messages of the step, where the activation asks: they are looked at with those in the entry when the
/// endings have not been counted. Null where a coroutine asks, beside which the activation may still leave its step.
kept_messages& message_waits::kept_by(object_entry& at, const message_list* waiting) {
  object_entry_extra& extra = at.need_extra();
  if (extra.kept == nullptr) {
    auto made = std::make_unique<kept_messages>();
    made->endings = uncounted;
    extra.kept = std::move(made);
  }
  if (waiting == nullptr || extra.kept->endings != uncounted) return *extra.kept;
  std::size_t endings = 0;
  const auto count = [&](const message_list& in) {
    for (const message* m = in.front(); m != nullptr; m = m->next) endings += is_ending(*m) ? 1 : 0;
  };
  count(extra.pending);
  count(*waiting);
  extra.kept->endings = endings;
  return *extra.kept;
}

/// The row of a message that its object keeps; else null.
const detail::handler_info* message_waits::kept_row(const object_entry& at, const message& m) const {
  if (m.header.kind != message_kind::object && m.header.kind != message_kind::everyone) return nullptr;
  const detail::handler_info* const row = messages_.handlers().handler(m.header.handler);
  const bool here = at.object() != nullptr && !space_.places().is_empty_place(at);
  if (!here || row == nullptr || row->tag == nullptr) return nullptr;
  return row->target_key == messages_.handlers().type(at.type)->key ? row : nullptr;
}

void message_waits::admit_checked(activation_step& now, message_ptr m) {
  if (const detail::handler_info* const row = kept_row(now.at, *m); row != nullptr) {
    if (kept_by(now.at, &now.pending).endings != 0) return now.pending.push_back(std::move(m));
    if (keep(now, *row, std::move(m))) NACRE_MARK("a message comes that a coroutine handler waits for");
    return;
  }
  const object_entry_extra* const extra = now.at.extra();
  if (extra != nullptr && extra->kept != nullptr && is_ending(*m)) ++kept_by(now.at, &now.pending).endings;
  now.pending.push_back(std::move(m));
}

bool message_waits::keep(activation_step& now, const detail::handler_info& row, message_ptr m) {
  const std::uint64_t tag = row.tag(*m);
  const bool counted = m->counted();
  const bool ready = kept_by(now.at, &now.pending).keep(std::move(m), tag);
  ++now.at.need_extra().ran;  // so that those that wait at their sources are cleared to follow
  if (counted) now.on.counters().done.add(1);
  return ready;
}

void message_waits::keep_front(activation_step& now, const detail::handler_info& row) {
  static_cast<void>(keep(now, row, now.pending.pop_front()));
}

bool message_waits::holds(activation_step& now, step_end& how) {
  object_entry_extra* const extra = now.at.extra();
  if (extra == nullptr || extra->kept == nullptr || extra->kept->waiter() == nullptr) return false;
  // The object stays where it is: a balancer's wish is dropped.
  extra->wanted_by.store(object_entry_extra::nobody, std::memory_order_relaxed);
  now.at.arrivals.take_move_request();
  // Messages that wait here need no room: they run after the coroutine, whose own may be behind any number of others.
  if (extra->windows != nullptr) space_.backlog().clear_senders(now, 0);
  how = step_end::parked;
  if (detail::message_waiter* const ready = extra->kept->take_ready()) {
    now.put_back();
    how = step_end::blocked;  // the coroutine has the activation from now on
    messages_.pool().make_ready(now.on, *ready->resumption);
  }
  return true;
}

void message_waits::note_ending_run(object_entry& at) noexcept {
  object_entry_extra* const extra = at.extra();
  if (extra == nullptr || extra->kept == nullptr || extra->kept->endings == uncounted) return;
  if (extra->kept->endings != 0) --extra->kept->endings;
}

void message_waits::recount(activation_step& now) {
  object_entry_extra* const extra = now.at.extra();
  if (extra != nullptr && extra->kept != nullptr) extra->kept->endings = uncounted;
}

void message_waits::report_left(thread_context& on, object_state& state) {
  if (state.kept == nullptr) return;
  message_list left = state.kept->take_all();
  state.kept.reset();
  while (message_ptr m = left.pop_front()) {
    if (m->counted()) on.counters().created.add(1);  // it was done when the object took it
    space_.errors().undeliverable(on, std::move(m));
  }
}

object_entry& message_waits::entry_of(const detail::message_waiter& by) {
  const message_header& request = by.coroutine->request();
  const detail::handler_info& row = *messages_.handlers().handler(by.coroutine->handler().value());
  const bool on_object = request.kind == message_kind::object || request.kind == message_kind::everyone;
  if (!on_object || row.shared) {
    throw usage_error(
        "ctx.next is for coroutine handlers that are member functions of a mobile object, and not const: they get the "
        "messages of that object");
  }
  object_entry* const at = space_.entries().find(object_id::from_value(request.object));
  NACRE_EXPECT(at != nullptr && at->object() != nullptr, "an object went away under a coroutine handler");
  return *at;
}

bool message_waits::take(detail::message_waiter& by, const void* target_key) {
  object_entry& at = entry_of(by);
  if (messages_.handlers().type(at.type)->key != target_key) {
    throw usage_error("ctx.next for a member of another class than the object's, " +
                      std::string(messages_.handlers().type(at.type)->name) +
                      ": write ctx.next<&base::f, derived>(step) for a member of a base class");
  }
  object_entry_extra* const extra = at.extra();
  if (extra == nullptr || extra->kept == nullptr) return false;
  by.message = extra->kept->take(by.handler, by.tag);
  return by.message != nullptr;
}

/// See object_entry::coroutine for the two threads that may meet here.
void message_waits::wait(detail::message_waiter& by) {
  object_entry& at = entry_of(by);
  thread_context& on = by.coroutine->ctx.current_thread();
  kept_by(at, nullptr).wait(by);
  // acq_rel: pairs with the exchange in handler_access::run_exclusive; the later one gives the activation back.
  if (at.exclusive_coroutine.exchange(object_entry::coroutine::parked, std::memory_order_acq_rel) ==
      object_entry::coroutine::inline_) {
    return;
  }
  at.exclusive_coroutine.store(object_entry::coroutine::suspended, std::memory_order_relaxed);  // published below
  if (messages_.pool().ahead()) return space_.access().later(at, on, &handler_access::end_exclusive_work);
  space_.activation().let_go_on(at, on);
}

}  // namespace nacre
