// SPDX-License-Identifier: Apache-2.0
// The receiver's side of the policies credit and slot: when messages of its senders may leave. Without I/O and without
// a clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "backplane/flow/flow_message.hpp"

namespace nacre::flow {

/// Allows the messages of all senders to one receiver, one by one, each sender in its turn.
///
/// | policy | a message is allowed | its delay |
/// |---|---|---|
/// | credit | when it fits the port's buffer together with those that are allowed and have not arrived | none |
/// | slot | at once, but no more than `horizon` ahead | until the link is free, as planned |
///
/// Invariants: a number of a sender is allowed once, and a repeated demand gets the same answer again. Under credit,
/// what has been allowed and does not arrive counts as arrived after a time, so that a sender that has died keeps
/// nothing from the others. Under slot its turn passes unused.
class receiver_schedule {
 public:
  /// `first`: the number of the first message of each sender.
  receiver_schedule(rank_id self, flow_policy policy, const link_settings& settings, flow_host& host,
                    std::uint32_t first = 0) noexcept
      : self_(self), policy_(policy), settings_(settings), host_(host), first_(first) {}

  void on_demand(rank_id source, const message& m, nanoseconds now);
  /// A message of that sender has arrived.
  void on_arrival(rank_id source, nanoseconds now);
  void tick(nanoseconds now);
  [[nodiscard]] nanoseconds due() const noexcept { return due_; }
  /// Bytes that are allowed and have not arrived; credit only.
  [[nodiscard]] std::uint64_t outstanding_bytes() const noexcept { return outstanding_bytes_; }

 private:
  static constexpr nanoseconds never = nanoseconds::max();
  static constexpr nanoseconds horizon = std::chrono::seconds(1);
  static constexpr std::size_t kept = 8;

  struct sender {
    std::uint32_t next = 0;            // the first number that is not allowed
    std::deque<std::uint32_t> wanted;  // sizes from that number on
    std::deque<nanoseconds> starts;    // of the last numbers that were allowed, the newest last
    bool in_line = false;
  };
  struct flight {
    std::uint32_t source;
    std::uint64_t bytes;
    nanoseconds expires;
  };

  void serve(nanoseconds now);
  [[nodiscard]] bool may_allow(std::uint64_t bytes, nanoseconds now);
  [[nodiscard]] nanoseconds allow(std::uint32_t source, std::uint64_t bytes, nanoseconds now);
  void answer(std::uint32_t target, const sender& whom, std::uint32_t first, nanoseconds now);
  void expire(nanoseconds now);

  rank_id self_;
  flow_policy policy_;
  const link_settings& settings_;
  flow_host& host_;
  const std::uint32_t first_;
  std::unordered_map<std::uint32_t, sender> senders_;
  std::deque<std::uint32_t> line_;  // senders with wanted messages
  std::deque<flight> flights_;      // credit: allowed, not arrived
  std::uint64_t outstanding_bytes_ = 0;
  nanoseconds free_at_{0};  // when the link is free, as planned
  nanoseconds due_ = never;
};

}  // namespace nacre::flow
