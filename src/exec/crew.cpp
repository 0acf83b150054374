// SPDX-License-Identifier: Apache-2.0
// One step of a worker.
#include "exec/crew.hpp"

#include <algorithm>

namespace nacre {

crew::crew(const settings& how, backplane& link, scheduler& order)
    : link_(link),
      order_(order),
      poll_bound_(0),
      workers_(how.workers),
      backlog_bytes_(static_cast<double>(how.backlog_bytes) / std::max(how.workers, 1u)) {
  const rng seeds = rng(how.seed).fork(link.rank().value());
  for (std::uint32_t index = 0; index < workers_ + 2; ++index) {
    const lane_role role = index < workers_    ? lane_role::worker
                           : index == workers_ ? lane_role::application
                                               : lane_role::progress;
    lanes_.push_back(std::make_unique<lane>(*this, worker_id(index), role, seeds.fork(index), readers_));
  }
}

crew::~crew() = default;

void crew::enter_idle(lane& on) noexcept {
  if (on.idle_ || on.role_ != lane_role::worker) return;
  on.idle_ = true;
  on.record(trace::event_kind::idle_begin);
  idle_workers_.fetch_add(1, std::memory_order_acq_rel);  // pairs with the acquire in idle_workers
}

void crew::leave_idle(lane& on) noexcept {
  if (!on.idle_) return;
  on.idle_ = false;
  on.record(trace::event_kind::end);
  idle_workers_.fetch_sub(1, std::memory_order_acq_rel);  // pairs with the acquire in idle_workers
  on_found(on);
}

void crew::run_item(lane& on, work& item) {
  leave_idle(on);
  on.record_item();
  on.in_item_ = true;
  item.run(on);
  on.in_item_ = false;
  if (on.recorder_ != nullptr) [[unlikely]] {
    on.recorder_->rest();
  }
}

void crew::note_steals(lane& on) {
  const std::uint64_t steals = order_.steals(on.id_);
  if (steals == on.steals_told_) return;
  const auto victim = order_.last_victim(on.id_);
  on.recorder_->steal(steals - on.steals_told_, victim ? victim->value() + std::uint64_t{1} : 0);
  on.steals_told_ = steals;
}

void crew::look_at_pressure(lane& on) {
  using pressure = scheduler::pressure;
  on.felt_at_ = on.stepped_at_;
  pressure now = pressure::none;
  if (link_.holds_back()) {
    now = pressure::unsent;
  } else {
    const double bound = on.pressure_ == pressure::none ? backlog_bytes_ : backlog_bytes_ / 2;
    if (static_cast<double>(order_.waiting(on.id_)) * on.item_bytes_ > bound) now = pressure::backlog;
  }
  if (now == on.pressure_) return;
  on.pressure_ = now;
  order_.feel(on.id_, now);
}

/// The one guard of all work: an exception of an item ends here and ends the job.
bool crew::take_item(lane& on) {
  bool found = true;
  guarded(on, [&] { found = run_next(on); });
  return found;
}

bool crew::run_next(lane& on) {
  on.reader_.quiescent();
  if (link_.congested() || on.pressure_ != scheduler::pressure::none || on.stepped_at_ - on.felt_at_ > poll_bound_) {
    look_at_pressure(on);
  }
  work* item = call_named(scheduler_name, [&] { return order_.pop(on.id_); });
  if (item == nullptr) {
    if (on.running_ && on.untimed_ != 0) read_clock(on);
    on.running_ = false;
    return false;
  }
  on.tallies_.taken.add(1);
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

std::size_t crew::ready_items() const noexcept {
  std::uint64_t readied = 0, taken = 0;
  for (const auto& each : lanes_) taken += each->tallies_.taken.read();
  for (const auto& each : lanes_) readied += each->tallies_.readied.read();  // later, so that it is not less
  return readied - taken;
}

void crew::look(lane& on) {
  on.polled_at_ = on.stepped_at_;
  if (on.recorder_ != nullptr) [[unlikely]] {
    on.recorder_->pause();
  }
  link_.progress(on);
}

/// Called between two items. A busy worker reads the clock once an item, and less often while its items are so short
/// that a reading would take a tenth of their time.
void crew::read_clock(lane& on) {
  constexpr std::uint32_t untimed_max = 8;
  const std::uint64_t end = instant(), spent = end - on.stepped_at_;
  on.tallies_.busy_ticks.add(spent);
  on.stepped_at_ = end;
  on.untimed_max_ = spent < short_item_ * on.untimed_ ? std::min(2 * on.untimed_max_, untimed_max) : 1;
  on.untimed_ = 0;
}

bool crew::step(lane& on, bool thorough) {
  if (!take_item(on)) {
    enter_idle(on);
    return link_.progress(on, thorough);
  }
  // A congested rank polls after every item: draining comes before producing.
  if (!spending() && (on.stepped_at_ - on.polled_at_ > poll_bound_ || link_.congested())) look(on);
  return true;
}

}  // namespace nacre
