// SPDX-License-Identifier: Apache-2.0
// The datagrams that wait for their acknowledgement: tells which have arrived, which are lost, and when to ask again.
#include "transport/udp/sent_datagrams.hpp"

#include <algorithm>

#include <nacre/assert.hpp>

namespace nacre::transport::udp {
namespace {

constexpr std::uint64_t reordering_max = 3;  // numbers by which one datagram may overtake another on its way
constexpr std::uint32_t doublings_max = 16;

}  // namespace

void sent_datagrams::add(const sent_datagram& datagram) {
  all_.push_back(datagram);
  if (!datagram.in_flight) {
    forget_old();
    return;
  }
  last_sent_ = datagram.time;
  ++in_flight_;
  bytes_in_flight_ += datagram.bytes;
  buffer_bytes_in_flight_ += datagram.buffer_bytes;
}

void sent_datagrams::leave(sent_datagram& datagram) noexcept {
  datagram.in_flight = false;
  --in_flight_;
  bytes_in_flight_ -= datagram.bytes;
  buffer_bytes_in_flight_ -= datagram.buffer_bytes;
}

void sent_datagrams::forget_old() noexcept {
  while (!all_.empty() && !all_.front().in_flight) {
    all_.pop_front();
    ++base_;
  }
}

void sent_datagrams::withdraw(std::uint64_t first, std::vector<sent_datagram>& back) {
  for (std::uint64_t number = std::max(first, base_); number < next_number(); ++number) {
    sent_datagram& each = all_[number - base_];
    if (!each.in_flight) continue;
    leave(each);
    back.push_back(each);
  }
  forget_old();
}

void sent_datagrams::note_round_trip(const sent_datagram& newest, std::chrono::nanoseconds ack_delay,
                                     time_point now) noexcept {
  round_trip_.add(std::max(now - newest.time, time_point::duration(1)), ack_delay);
}

void sent_datagrams::on_acknowledgement(std::span<const number_range> received, std::chrono::nanoseconds ack_delay,
                                        time_point now, std::vector<sent_datagram>& arrived,
                                        std::vector<sent_datagram>& lost) {
  if (received.empty()) return;
  NACRE_EXPECT(received[0].end <= next_number(), "only what was sent is acknowledged");
  const bool newer = received[0].end > acknowledged_end_;
  acknowledged_end_ = std::max(acknowledged_end_, received[0].end);
  if (received[0].end <= base_) return;
  const std::size_t previous = arrived.size();
  for (const number_range& range : received) {
    if (range.end <= base_) break;
    for (std::uint64_t number = range.end; number > std::max(range.begin, base_); --number) {
      sent_datagram& each = all_[number - 1 - base_];
      if (!each.in_flight) continue;
      if (number == received[0].end) note_round_trip(each, ack_delay, now);
      leave(each);
      arrived.push_back(each);
    }
  }
  // A newly acknowledged number reveals losses even if its datagram asked for no acknowledgement.
  if (arrived.size() == previous && !newer) return;
  silences_ = 0;
  detect_losses(now, lost);
  forget_old();
}

void sent_datagrams::detect_losses(time_point now, std::vector<sent_datagram>& lost) {
  loss_deadline_ = never;
  const auto patience = round_trip_.lost_after();
  for (std::uint64_t number = base_; number < acknowledged_end_ && number < next_number(); ++number) {
    sent_datagram& each = all_[number - base_];
    if (!each.in_flight) continue;
    if (number + reordering_max < acknowledged_end_ || each.time + patience <= now) {
      leave(each);
      lost.push_back(each);
    } else {
      loss_deadline_ = std::min(loss_deadline_, each.time + patience);
    }
  }
}

time_point sent_datagrams::deadline() const noexcept {
  if (in_flight_ == 0) return never;
  const std::chrono::nanoseconds most = retry_max;
  const auto overdue = std::min(round_trip_.overdue_after() * (1u << std::min(silences_, doublings_max)), most);
  return std::min(loss_deadline_, last_sent_ + overdue);
}

bool sent_datagrams::on_deadline(time_point now, std::vector<sent_datagram>& lost) {
  if (now < deadline()) return false;
  if (loss_deadline_ <= now) {
    detect_losses(now, lost);
    forget_old();
    return false;
  }
  forget_old();
  ++silences_;
  leave(all_.front());
  lost.push_back(all_.front());
  forget_old();
  return true;
}

}  // namespace nacre::transport::udp
