// SPDX-License-Identifier: Apache-2.0
// Demands, and messages that leave at their times.
#include "backplane/flow/demand_sender.hpp"

#include <limits>

namespace nacre::flow {

void demand_sender::offer(std::uint64_t bytes, nanoseconds now) {
  sizes_.push_back(bytes);
  if (sizes_.size() <= ahead_max) demand(now);
}

void demand_sender::demand(nanoseconds now) {
  message m{.kind = message_kind::demand, .link = receiver_, .subject = {}, .number = allowed_};
  m.stamp.pass = static_cast<std::uint64_t>(policy_);
  const std::size_t count = std::min(sizes_.size(), ahead_max);
  for (std::size_t i = 0; i < count; ++i) {
    m.list.push_back(
        static_cast<std::uint32_t>(std::min<std::uint64_t>(sizes_[i], std::numeric_limits<std::uint32_t>::max())));
  }
  demanded_ = allowed_ + static_cast<std::uint32_t>(count);
  due_ = now + settings_.patience * (std::int64_t{1} << std::min(attempts_, doublings_max));
  host_.send(receiver_, m);
}

void demand_sender::on_allowance(const message& m, nanoseconds now) {
  const nanoseconds counts_from = now - flights_.held_up(receiver_, m.sent, now);
  for (std::uint32_t i = 0; i < m.list.size() && !sizes_.empty(); ++i) {
    if (m.number + i != allowed_) continue;  // known already, or one before it is missing
    const nanoseconds start = counts_from + nanoseconds(m.list[i]);
    starts_.push_back(starts_.empty() ? start : std::max(start, starts_.back()));
    sizes_.pop_front();
    allowed_ += 1;
    attempts_ = 0;
  }
  due_ = sizes_.empty() ? never : now + settings_.patience;
  // Half of the numbers asked for are used up: ask for more, so that the link does not wait for the answer.
  const std::size_t open = is_before(allowed_, demanded_) ? demanded_ - allowed_ : 0;
  if (!sizes_.empty() && open < std::min(sizes_.size(), ahead_max / 2)) demand(now);
  leave(now);
}

void demand_sender::leave(nanoseconds now) {
  while (!starts_.empty() && starts_.front() <= now) {
    starts_.pop_front();
    host_.transmit(receiver_, policy_, {});
  }
}

void demand_sender::tick(nanoseconds now) {
  leave(now);
  if (now < due_) return;
  due_ = never;
  if (sizes_.empty()) return;
  attempts_ += 1;
  retries_ += 1;
  demand(now);
}

}  // namespace nacre::flow
