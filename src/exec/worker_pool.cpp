// SPDX-License-Identifier: Apache-2.0
// One step of a worker.
#include "exec/worker_pool.hpp"

#include <algorithm>

#include "base/forked_child.hpp"

namespace nacre {

worker_pool::worker_pool(const settings& how, backplane& link, scheduler& order)
    : link_(link),
      order_(order),
      poll_bound_(0),
      workers_(how.workers),
      backlog_bytes_(static_cast<double>(how.backlog_bytes) / std::max(how.workers, 1u)) {
  const rng seeds = rng(how.seed).fork(link.rank().value());
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

void worker_pool::enter_idle(thread_context& on) noexcept {
  if (on.idle_ || on.role_ != thread_role::worker) return;
  on.idle_ = true;
  on.record(trace::event_kind::idle_begin);
  idle_workers_.fetch_add(1, std::memory_order_acq_rel);  // pairs with the acquire in idle_workers
}

void worker_pool::leave_idle(thread_context& on) noexcept {
  if (!on.idle_) return;
  on.idle_ = false;
  on.record(trace::event_kind::end);
  idle_workers_.fetch_sub(1, std::memory_order_acq_rel);  // pairs with the acquire in idle_workers
  on_found(on);
}

void worker_pool::run_item(thread_context& on, work& item) {
  leave_idle(on);
  on.record_item();
  on.in_item_ = true;
  item.run(on);
  if (is_forked_child()) [[unlikely]]
    end_forked_child(0);  // a coroutine has forked, and has suspended
  on.in_item_ = false;
  if (on.recorder_ != nullptr) [[unlikely]] {
    on.recorder_->rest();
  }
}

void worker_pool::note_steals(thread_context& on) {
  const std::uint64_t steals = order_.steals(on.id_);
  if (steals == on.steals_told_) return;
  const auto victim = order_.last_victim(on.id_);
  on.recorder_->steal(steals - on.steals_told_, victim ? victim->value() + std::uint64_t{1} : 0);
  on.steals_told_ = steals;
}

void worker_pool::update_pressure(thread_context& on) {
  using pressure = scheduler::pressure;
  on.pressure_checked_at_ = on.stepped_at_;
  pressure now = pressure::none;
  if (link_.backpressure()) {
    now = pressure::unsent;
  } else {
    const double bound = on.pressure_ == pressure::none ? backlog_bytes_ : backlog_bytes_ / 2;
    if (static_cast<double>(order_.waiting(on.id_)) * on.item_bytes_ > bound) now = pressure::backlog;
  }
  if (now == on.pressure_) return;
  // relaxed: a hint, see backlogged
  if (now == pressure::backlog) backlogged_workers_.fetch_add(1, std::memory_order_relaxed);
  if (on.pressure_ == pressure::backlog) backlogged_workers_.fetch_sub(1, std::memory_order_relaxed);
  on.pressure_ = now;
  order_.set_pressure(on.id_, now);
}

/// The one guard of all work: an exception of an item ends here and ends the job.
bool worker_pool::take_item(thread_context& on) {
  bool found = true;
  guarded(on, [&] { found = run_next(on); });
  return found;
}

bool worker_pool::run_next(thread_context& on) {
  on.reader_.quiescent();
  if (link_.congested() || on.pressure_ != scheduler::pressure::none ||
      on.stepped_at_ - on.pressure_checked_at_ > poll_bound_) {
    update_pressure(on);
  }
  work* item = call_named(scheduler_name, [&] { return order_.pop(on.id_); });
  if (item == nullptr) {
    if (on.running_ && on.untimed_ != 0) read_clock(on);
    on.running_ = false;
    return false;
  }
  on.counters_.taken.add(1);
  if (!on.running_) {
    on.stepped_at_ = instant();
    on.untimed_ = 0;
  }
  if (on.recorder_ != nullptr) [[unlikely]] {
    note_steals(on);
  }
  run_item(on, *item);
  on.running_ = true;
  if (++on.untimed_ >= on.untimed_max_) read_clock(on);
  return true;
}

std::size_t worker_pool::ready_items() const noexcept {
  std::uint64_t readied = 0, taken = 0;
  for (const auto& each : thread_contexts_) taken += each->counters_.taken.read();
  for (const auto& each : thread_contexts_) readied += each->counters_.readied.read();  // later, so that it is not less
  return readied - taken;
}

void worker_pool::poll(thread_context& on) {
  on.polled_at_ = on.stepped_at_;
  if (on.recorder_ != nullptr) [[unlikely]] {
    on.recorder_->pause();
  }
  link_.progress(on);
}

/// Called between two items. A busy worker reads the clock once an item, and less often while its items are so short
/// that a reading would take a tenth of their time.
void worker_pool::read_clock(thread_context& on) {
  constexpr std::uint32_t untimed_max = 8;
  const std::uint64_t end = instant(), spent = end - on.stepped_at_;
  on.counters_.busy_ticks.add(spent);
  on.stepped_at_ = end;
  on.untimed_max_ = spent < short_item_ * on.untimed_ ? std::min(2 * on.untimed_max_, untimed_max) : 1;
  on.untimed_ = 0;
}

bool worker_pool::step(thread_context& on, bool thorough) {
  if (!take_item(on)) {
    enter_idle(on);
    return link_.progress(on, thorough);
  }
  // A congested rank polls after every item: draining comes before producing.
  if (!spending() && (on.stepped_at_ - on.polled_at_ > poll_bound_ || link_.congested())) poll(on);
  return true;
}

}  // namespace nacre
