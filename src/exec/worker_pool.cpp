// SPDX-License-Identifier: Apache-2.0
// One step of a worker.
#include "exec/worker_pool.hpp"

#include <algorithm>

#include "base/forked_child.hpp"

namespace nacre {

worker_pool::worker_pool(const settings& settings, backplane& link, scheduler& order)
    : link_(link),
      order_(order),
      poll_bound_(0),
      selective_(settings.selective),
      workers_(settings.workers),
      backlog_bytes_(static_cast<double>(settings.backlog_bytes) / std::max(settings.workers, 1u)) {
  const rng seeds = rng(settings.seed).fork(link.rank().value());
  for (std::uint32_t index = 0; index < workers_ + threads_beside_workers; ++index) {
    const thread_role role = index < workers_    ? thread_role::worker
                             : index == workers_ ? thread_role::application
                                                 : thread_role::progress;
    thread_contexts_.push_back(
        std::make_unique<thread_context>(*this, worker_id(index), role, seeds.fork(index), readers_));
  }
}

worker_pool::~worker_pool() = default;

std::chrono::nanoseconds worker_pool::instant_after(double seconds) const {
  const std::chrono::nanoseconds now = link_.duties().now();
  const double ns = std::max(0.0, seconds) * 1e9;  // in this order NaN counts as 0
  constexpr double representable = 9e18;
  if (ns >= representable - static_cast<double>(now.count())) return std::chrono::nanoseconds::max();
  return now + std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
}

void worker_pool::enter_idle(thread_context& thread) noexcept {
  if (thread.idle_ || thread.role_ != thread_role::worker) return;
  thread.idle_ = true;
  thread.record(trace::event_kind::idle_begin);
  idle_workers_.fetch_add(1, std::memory_order_acq_rel);  // pairs with the acquire in idle_workers
}

void worker_pool::leave_idle(thread_context& thread) noexcept {
  if (!thread.idle_) return;
  thread.idle_ = false;
  thread.record(trace::event_kind::end);
  idle_workers_.fetch_sub(1, std::memory_order_acq_rel);  // pairs with the acquire in idle_workers
  on_found(thread);
}

void worker_pool::run_item(thread_context& thread, work& item) {
  leave_idle(thread);
  thread.record_item();
  thread.in_item_ = true;
  item.run(thread);
  if (is_forked_child()) [[unlikely]]
    end_forked_child(0);  // a coroutine has forked, and has suspended
  thread.in_item_ = false;
  if (thread.recorder_ != nullptr) [[unlikely]] {
    thread.recorder_->rest();
  }
}

void worker_pool::note_steals(thread_context& thread) {
  const std::uint64_t steals = order_.steals(thread.id_);
  if (steals == thread.steals_told_) return;
  const auto victim = order_.last_victim(thread.id_);
  thread.recorder_->steal(steals - thread.steals_told_, victim ? victim->value() + std::uint64_t{1} : 0);
  thread.steals_told_ = steals;
}

void worker_pool::update_pressure(thread_context& thread) {
  using pressure = scheduler::pressure;
  thread.pressure_checked_at_ = thread.stepped_at_;
  pressure now = pressure::none;
  if (link_.backpressure()) {
    now = pressure::unsent;
  } else {
    const double bound = thread.pressure_ == pressure::none ? backlog_bytes_ : backlog_bytes_ / 2;
    if (static_cast<double>(order_.waiting(thread.id_)) * thread.item_bytes_ > bound) now = pressure::backlog;
  }
  if (now == thread.pressure_) return;
  // relaxed: a hint, see backlogged
  if (now == pressure::backlog) backlogged_workers_.fetch_add(1, std::memory_order_relaxed);
  if (thread.pressure_ == pressure::backlog) backlogged_workers_.fetch_sub(1, std::memory_order_relaxed);
  thread.pressure_ = now;
  order_.set_pressure(thread.id_, now);
}

/// The one guard of all work: an exception of an item ends here and ends the job.
bool worker_pool::take_item(thread_context& thread) {
  bool is_found = true;
  guarded(thread, [&] { is_found = run_next(thread); });
  return is_found;
}

bool worker_pool::run_next(thread_context& thread) {
  thread.reader_.quiescent();
  if (link_.congested() || thread.pressure_ != scheduler::pressure::none ||
      thread.stepped_at_ - thread.pressure_checked_at_ > poll_bound_) {
    update_pressure(thread);
  }
  work* item = call_named(scheduler_name, [&] { return order_.pop(thread.id_); });
  if (item == nullptr) {
    if (thread.running_ && thread.untimed_ != 0) read_clock(thread);
    thread.running_ = false;
    return false;
  }
  thread.counters_.taken.add(1);
  if (!thread.running_) {
    thread.stepped_at_ = instant();
    thread.untimed_ = 0;
  }
  if (thread.recorder_ != nullptr) [[unlikely]] {
    note_steals(thread);
  }
  run_item(thread, *item);
  thread.running_ = true;
  if (++thread.untimed_ >= thread.untimed_max_) read_clock(thread);
  return true;
}

std::size_t worker_pool::ready_items() const noexcept {
  std::uint64_t readied = 0, taken = 0;
  for (const auto& each : thread_contexts_) taken += each->counters_.taken.read();
  for (const auto& each : thread_contexts_) readied += each->counters_.readied.read();  // later, so that it is not less
  return readied - taken;
}

void worker_pool::poll(thread_context& thread) {
  thread.polled_at_ = thread.stepped_at_;
  if (thread.recorder_ != nullptr) [[unlikely]] {
    thread.recorder_->pause();
  }
  link_.progress(thread);
}

/// Called between two items. A busy worker reads the clock once an item, and less often while its items are so short
/// that a reading would take a tenth of their time.
void worker_pool::read_clock(thread_context& thread) {
  constexpr std::uint32_t untimed_max = 8;
  const std::uint64_t end = instant(), spent = end - thread.stepped_at_;
  thread.counters_.busy_ticks.add(spent);
  thread.stepped_at_ = end;
  thread.untimed_max_ = spent < short_item_ * thread.untimed_ ? std::min(2 * thread.untimed_max_, untimed_max) : 1;
  thread.untimed_ = 0;
}

bool worker_pool::step(thread_context& thread, bool thorough) {
  if (!take_item(thread)) {
    enter_idle(thread);
    return link_.progress(thread, thorough);
  }
  // A congested rank polls after every item: draining comes before producing.
  if (!spending() && (thread.stepped_at_ - thread.polled_at_ > poll_bound_ || link_.congested())) poll(thread);
  return true;
}

}  // namespace nacre
