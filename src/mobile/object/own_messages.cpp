// SPDX-License-Identifier: Apache-2.0
// Messages of a rank to its own objects that do not reach them at once.
#include <utility>

#include "mobile/mobile.hpp"

namespace nacre {

/// In simulated time, a handler's message reaches its object after the time that the handler has spent before it.
void object_space::accept_when_spent(lane& on, message_ptr m) {
  crew& team = messages_.team();
  team.charge_own(own_work::send_local);
  if (!team.spending()) return accept(on, std::move(m), true);
  m->run_by(&accept_made);
  team.when_spent(on, *m.release());
}

void object_space::accept_made(work& item, lane& on) {
  on_lane(on).accept(on, message_ptr(static_cast<message*>(&item)), true);
}

/// Runs a message of this rank that comes when no handler runs here: an object that is to end does so at once, as in
/// give_back. False: the object does not wait for messages; push it.
bool object_space::end_idle(entry& at, lane& on, message_ptr& m) {
  const bool ends = m->header.kind == message_kind::destroy && at.object() != nullptr && !at.id.is_element();
  if (!ends || !at.arrivals.begin_idle()) return false;
  message_list taken;
  taken.push_back(std::move(m));
  run_claimed(at, on, taken, true);
  return true;
}

/// Queues the message behind an item of its own, instead of in the inbox of its object. The object meanwhile goes on
/// with messages from other ranks.
void object_space::keep_back(entry& at, lane& on, message_ptr m) {
  kept_messages& kept = at.need_extra().need_kept(&hand_on_kept);
  if (!kept.push(std::move(m))) return;
  kept.add_reference();                              // the extra's stays: this thread is a reader
  keeping_.fetch_add(1, std::memory_order_relaxed);  // a hint
  messages_.team().make_ready(on, kept, crew::made_on(on));
}

/// Whether messages of this rank to the object are queued already; then `m` is queued behind them, for it would be
/// early.
bool object_space::keeps_back_before(const entry& at, message_ptr& m) {
  if (keeping_.load(std::memory_order_relaxed) == 0) return false;  // a hint: an early message is set aside
  const entry_extra* const extra = at.extra();
  if (extra == nullptr) return false;
  kept_messages* const kept = extra->kept.load(std::memory_order_acquire);  // pairs with need_kept
  return kept != nullptr && kept->push_behind(m);
}

/// Hands on some of the oldest messages, as if they arrived now, and lets the object run them before the next ones.
void object_space::hand_on_kept(work& item, lane& on) {
  constexpr int at_once = 64;
  auto& kept = static_cast<kept_messages&>(item);
  object_space& self = on_lane(on);
  for (int count = 0; count < at_once; ++count) {
    message_ptr m = kept.take();
    if (m == nullptr) break;
    self.accept(on, std::move(m));
  }
  if (!kept.finish()) return self.messages_.team().make_ready(on, kept, crew::made_on(on));
  self.keeping_.fetch_sub(1, std::memory_order_relaxed);  // a hint
  kept.release_reference();
}

}  // namespace nacre
