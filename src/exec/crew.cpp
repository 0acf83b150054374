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
  idle_workers_.fetch_add(1, std::memory_order_acq_rel);  // pairs with the acquire in idle_workers
}

void crew::leave_idle(lane& on) noexcept {
  if (!on.idle_) return;
  on.idle_ = false;
  idle_workers_.fetch_sub(1, std::memory_order_acq_rel);  // pairs with the acquire in idle_workers
  on_found(on);
}

void crew::run_item(lane& on, work& item) {
  leave_idle(on);
  on.in_item_ = true;
  item.run(on);
  on.in_item_ = false;
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

bool crew::take_item(lane& on) {
  on.reader_.quiescent();
  if (link_.congested() || on.pressure_ != scheduler::pressure::none || on.stepped_at_ - on.felt_at_ > poll_bound_) {
    look_at_pressure(on);
  }
  work* item = order_.pop(on.id_);
  if (item == nullptr) {
    on.running_ = false;
    return false;
  }
  if (!on.running_) on.stepped_at_ = instant();
  run_item(on, *item);
  const std::uint64_t end = instant();
  on.tallies_.busy_ticks.add(end - on.stepped_at_);
  on.stepped_at_ = end;  // the next item begins here, so that a busy worker reads the clock once an item
  on.running_ = true;
  return true;
}

bool crew::step(lane& on, bool thorough) {
  if (!take_item(on)) {
    enter_idle(on);
    return link_.progress(on, thorough);
  }
  // A congested rank looks after every item: draining comes before producing.
  if (on.stepped_at_ - on.polled_at_ > poll_bound_ || link_.congested()) {
    on.polled_at_ = on.stepped_at_;
    link_.progress(on);
  }
  return true;
}

}  // namespace nacre
