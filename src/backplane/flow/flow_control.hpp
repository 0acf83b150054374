// SPDX-License-Identifier: Apache-2.0
// The flow control of one rank: its part at the links of all receivers, and at its own; no I/O and no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/flow/demand_sender.hpp"
#include "backplane/flow/flow_message.hpp"
#include "backplane/flow/receiver_schedule.hpp"
#include "backplane/flow/token_keeper.hpp"
#include "backplane/flow/token_link.hpp"
#include "backplane/flow/token_room.hpp"

namespace nacre::flow {

/// A policy and why `automatic` has chosen it.
struct choice {
  flow_policy policy;
  std::string_view reason;
};

/// One object for each rank. Its owner keeps the messages themselves, in one queue for each receiver and policy; this
/// object knows their sizes, and says by flow_host::transmit when the oldest of a queue may leave. Costs of a call do
/// not depend on the number of links, but for a logarithm. Single-threaded.
class flow_control {
 public:
  flow_control(rank_id self, std::uint32_t ranks, const link_settings& settings, flow_host& host)
      : self_(self), ranks_(ranks), settings_(settings), permit_settings_(settings.of_one_permit()), host_(host) {}
  flow_control(const flow_control&) = delete;
  flow_control& operator=(const flow_control&) = delete;

  /// The policy that `automatic` means here; other policies are what they are.
  [[nodiscard]] choice choose(flow_policy asked) const noexcept;
  /// A message of so many bytes waits. May call transmit at once. Small messages, those under `none`, and those to the
  /// own rank are transmitted at once, under `none`.
  void offer(rank_id target, flow_policy policy, std::uint64_t bytes, nanoseconds now);
  /// Ignores a message that names ranks which do not exist.
  void receive(rank_id source, const message& m, nanoseconds now);
  /// All bytes of a message that has left under `policy` have come to this rank.
  void arrived(rank_id source, flow_policy policy, const token_stamp& stamp, nanoseconds now);
  void tick(nanoseconds now);
  /// When tick is to be called at the latest; max() for never.
  [[nodiscard]] nanoseconds due() const noexcept { return timers_.empty() ? never : timers_.begin()->first; }

  [[nodiscard]] const link_settings& settings() const noexcept { return settings_; }
  /// Null where this rank has had nothing to do with that token.
  [[nodiscard]] const token_link* token_of(rank_id link, std::uint32_t permit = 0) const noexcept;
  /// Requests and demands that had no answer in time.
  [[nodiscard]] std::uint64_t retries() const noexcept;

 private:
  static constexpr nanoseconds never = nanoseconds::max();

  /// This rank's parts at one token of a link; the members exist once they are needed.
  struct permit_part {
    std::unique_ptr<token_link> token;
    std::unique_ptr<token_keeper> keeper;  // the own link only
    std::unique_ptr<token_room> room;      // the own link only
  };
  /// This rank's parts at the link to one rank.
  struct link_part {
    std::vector<permit_part> permits;
    std::deque<std::uint64_t> sizes;                            // of the messages that wait for a token
    std::unique_ptr<demand_sender> credit_sender, slot_sender;  // the links of others
    std::unique_ptr<receiver_schedule> credits, slots;          // the own link only
    nanoseconds due = never;
  };

  [[nodiscard]] permit_part& permit_at(rank_id link, link_part& part, std::uint8_t permit);
  [[nodiscard]] token_link& least_awaited(rank_id link, link_part& part);
  [[nodiscard]] demand_sender& sender_at(rank_id link, link_part& part, flow_policy policy);
  [[nodiscard]] receiver_schedule& schedule_at(link_part& part, flow_policy policy);
  void receive_of_token(rank_id source, const message& m, nanoseconds now, link_part& part);
  void on_lost(rank_id source, const message& m, nanoseconds now, permit_part& part);
  void set_timer(rank_id link, link_part& part);

  rank_id self_;
  std::uint32_t ranks_;
  link_settings settings_;
  link_settings permit_settings_;
  flow_host& host_;
  std::map<rank_id, link_part> links_;
  std::set<std::pair<nanoseconds, rank_id>> timers_;
};

}  // namespace nacre::flow
