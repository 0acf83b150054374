// SPDX-License-Identifier: Apache-2.0
// A sender's part where the receiver says when messages may leave. Without I/O and without a clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "backplane/flow/flight_times.hpp"
#include "backplane/flow/flow_message.hpp"

namespace nacre::flow {

/// Messages of one sender to one receiver, numbered in the order in which they were offered; numbers wrap.
///
/// | a message is | since | then |
/// |---|---|---|
/// | offered | its offer | in the DEMAND as soon as it is among the first `ahead_max` that are not allowed |
/// | demanded | the first DEMAND with its size | again after `patience`, doubled each time, until it is allowed |
/// | allowed | an ALLOWANCE for its number, with those before it | leaves when its delay is over |
///
/// Demands and allowances name numbers, so that lost, late and doubled ones do no harm.
class demand_sender {
 public:
  /// `first`: the number of the first message.
  demand_sender(rank_id receiver, flow_policy policy, const link_settings& settings, flow_host& host,
                std::uint32_t first = 0) noexcept
      : receiver_(receiver), policy_(policy), settings_(settings), host_(host), allowed_(first), demanded_(first) {}

  void offer(std::uint64_t bytes, nanoseconds now);
  void on_allowance(const message& m, nanoseconds now);
  void tick(nanoseconds now);
  [[nodiscard]] nanoseconds due() const noexcept { return std::min(starts_.empty() ? never : starts_.front(), due_); }
  [[nodiscard]] std::size_t pending() const noexcept { return starts_.size() + sizes_.size(); }
  [[nodiscard]] std::uint64_t retries() const noexcept { return retries_; }

  /// So many messages a sender asks for at a time.
  static constexpr std::size_t ahead_max = 8;

 private:
  static constexpr nanoseconds never = nanoseconds::max();
  static constexpr int doublings_max = 5;

  void demand(nanoseconds now);
  void leave(nanoseconds now);

  rank_id receiver_;
  flow_policy policy_;
  const link_settings& settings_;
  flow_host& host_;
  std::deque<std::uint64_t> sizes_;  // of messages that are not allowed yet; the first is number allowed_
  std::deque<nanoseconds> starts_;   // of those that are allowed and have not left
  std::uint32_t allowed_;
  std::uint32_t demanded_;  // numbers below have been in a demand
  nanoseconds due_ = never;
  int attempts_ = 0;
  flight_times flights_;  // of allowances
  std::uint64_t retries_ = 0;
};

}  // namespace nacre::flow
