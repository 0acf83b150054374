// SPDX-License-Identifier: Apache-2.0
// Messages of a rank to its own objects that do not reach them at once.
#include "mobile/outgoing/local_delivery.hpp"

#include <utility>

namespace nacre {

/// Hands a message of main to an object that is here. `may_join`: the message may go into a bundle, and has not been
/// prepared yet. A message that joins no bundle queues behind the bundles before it, since it would overtake them.
void local_delivery::append_from_main(object_entry& entry, thread_context& main, message_ptr m, bool may_join) {
  if (may_join) {
    const main_aggregator::joined joined = bundles_->append_to_object(m);
    if (joined == main_aggregator::joined::first) messages_.wake_poll_loop();  // so that it closes the bundle
    if (joined != main_aggregator::joined::no) return;
    m = messages_.prepare(main, true, std::move(m));
  }
  bundles_->close_for_objects();
  if (!object_bundles_.enqueue_main_behind(main, m)) activation_.push(entry, main, std::move(m));
}

/// In simulated time, a handler's message reaches its object after the time that the handler has spent before it.
void local_delivery::accept_when_spent(thread_context& thread, message_ptr m) {
  worker_pool& pool = messages_.pool();
  pool.charge_own(own_work::send_local);
  if (!pool.spending()) return incoming_.accept(thread, std::move(m), true);
  m->run_by(&accept_made);
  pool.when_spent(thread, *m.release());
}

void local_delivery::accept_made(work& item, thread_context& thread) {
  thread.messages().objects().accept_own(thread, message_ptr(static_cast<message*>(&item)));
}

/// Queues the message behind an item of its own, instead of in the inbox of its object. The object meanwhile goes on
/// with messages from other ranks.
void local_delivery::push_under_backpressure(object_entry& entry, thread_context& thread, message_ptr m) {
  backpressure_queue& backpressure = entry.need_extra().need_backpressure(&run_backpressure_queue, this);
  if (!backpressure.push(std::move(m))) return;
  backpressure.add_reference();                            // the extra's stays: this thread is a reader
  backpressured_.fetch_add(1, std::memory_order_relaxed);  // a hint
  messages_.pool().make_ready(thread, backpressure, worker_pool::made_on(thread));
}

/// Whether messages of this rank to the object are queued already; then `m` is queued behind them, for it would be
/// early.
bool local_delivery::push_behind_backpressure(const object_entry& entry, message_ptr& m) {
  if (backpressured_.load(std::memory_order_relaxed) == 0) return false;  // a hint: an early message is set aside
  const object_entry_extra* const extra = entry.extra();
  if (extra == nullptr) return false;
  backpressure_queue* const backpressure =
      extra->backpressure.load(std::memory_order_acquire);  // pairs with need_backpressure
  return backpressure != nullptr && backpressure->push_behind(m);
}

/// Hands on some of the oldest messages, as if they arrived now, and lets the object run them before the next ones.
void local_delivery::run_backpressure_queue(work& item, thread_context& thread) {
  constexpr int at_once = 64;
  auto& backpressure = static_cast<backpressure_queue&>(item);
  local_delivery& self = *static_cast<local_delivery*>(backpressure.owner);
  for (int count = 0; count < at_once; ++count) {
    message_ptr m = backpressure.take();
    if (m == nullptr) break;
    self.messages_.objects().accept(thread, std::move(m));
  }
  if (!backpressure.finish())
    return self.messages_.pool().make_ready(thread, backpressure, worker_pool::made_on(thread));
  self.backpressured_.fetch_sub(1, std::memory_order_relaxed);  // a hint
  backpressure.release_reference();
}
}  // namespace nacre
