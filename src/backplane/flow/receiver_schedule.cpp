// SPDX-License-Identifier: Apache-2.0
// Credit and slots.
#include "backplane/flow/receiver_schedule.hpp"

#include <algorithm>
#include <limits>

namespace nacre::flow {

void receiver_schedule::on_demand(rank_id source, const message& m, nanoseconds now) {
  sender& whom = senders_.try_emplace(source.value(), sender{.next = first_, .wanted = {}, .starts = {}}).first->second;
  for (std::uint32_t i = 0; i < m.list.size(); ++i) {
    const bool next = m.number + i == whom.next + static_cast<std::uint32_t>(whom.wanted.size());
    if (next && whom.wanted.size() < list_max) whom.wanted.push_back(m.list[i]);
  }
  if (is_before(m.number, whom.next)) answer(source.value(), whom, m.number, now);  // it has missed an allowance
  if (!whom.wanted.empty() && !whom.in_line) {
    whom.in_line = true;
    line_.push_back(source.value());
  }
  serve(now);
}

void receiver_schedule::on_arrival(rank_id source, nanoseconds now) {
  const auto match =
      std::find_if(flights_.begin(), flights_.end(), [&](const flight& each) { return each.source == source.value(); });
  if (match != flights_.end()) {
    outstanding_bytes_ -= match->bytes;
    flights_.erase(match);
  }
  serve(now);
}

void receiver_schedule::tick(nanoseconds now) {
  if (now >= due_) serve(now);
}

void receiver_schedule::expire(nanoseconds now) {
  while (!flights_.empty() && flights_.front().expires <= now) {
    outstanding_bytes_ -= flights_.front().bytes;
    flights_.pop_front();
  }
}

bool receiver_schedule::may_allow(std::uint64_t bytes, nanoseconds now) {
  if (policy_ == flow_policy::slot) {
    if (free_at_ <= now + horizon) return true;
    due_ = free_at_ - horizon;
    return false;
  }
  const std::uint64_t window = settings_.buffer_bytes - settings_.buffer_bytes / 8;
  if (outstanding_bytes_ == 0 || outstanding_bytes_ + bytes <= window) return true;
  due_ = flights_.front().expires;
  return false;
}

/// Returns when the message may leave.
nanoseconds receiver_schedule::allow(std::uint32_t source, std::uint64_t bytes, nanoseconds now) {
  const nanoseconds start = std::max(now, free_at_ - settings_.ahead(bytes, link_settings::knowledge::planned));
  free_at_ = std::max(now, free_at_) + settings_.duration(bytes);
  if (policy_ == flow_policy::slot) return start;
  outstanding_bytes_ += bytes;
  const nanoseconds expires = now + settings_.patience + 4 * settings_.duration(outstanding_bytes_);
  flights_.push_back({source, bytes, std::max(expires, flights_.empty() ? expires : flights_.back().expires)});
  return now;
}

void receiver_schedule::serve(nanoseconds now) {
  expire(now);
  due_ = never;
  while (!line_.empty()) {
    const std::uint32_t source = line_.front();
    sender& whom = senders_[source];
    const std::uint32_t first = whom.next;
    // Under `slot` one answer grants all that a sender has asked for, because the granted times keep the senders apart.
    do {
      if (!may_allow(whom.wanted.front(), now)) break;
      whom.starts.push_back(allow(source, whom.wanted.front(), now));
      if (whom.starts.size() > kept) whom.starts.pop_front();
      whom.wanted.pop_front();
      whom.next += 1;
    } while (policy_ == flow_policy::slot && !whom.wanted.empty());
    if (whom.next != first) answer(source, whom, first, now);
    if (due_ != never) return;
    line_.pop_front();
    whom.in_line = !whom.wanted.empty();
    if (whom.in_line) line_.push_back(source);
  }
}

/// Tells a sender of its messages from `first` on that are allowed.
void receiver_schedule::answer(std::uint32_t target, const sender& whom, std::uint32_t first, nanoseconds now) {
  const auto oldest = whom.next - static_cast<std::uint32_t>(whom.starts.size());
  if (is_before(first, oldest)) first = oldest;
  message m{.kind = message_kind::allowance, .link = self_, .subject = {}, .number = first, .sent = now};
  m.stamp.pass = static_cast<std::uint64_t>(policy_);
  for (std::uint32_t number = first; number != whom.next; ++number) {
    const std::int64_t delay = std::max<std::int64_t>(0, (whom.starts[number - oldest] - now).count());
    m.list.push_back(
        static_cast<std::uint32_t>(std::min<std::int64_t>(delay, std::numeric_limits<std::uint32_t>::max())));
  }
  host_.send(rank_id(target), m);
}

}  // namespace nacre::flow
