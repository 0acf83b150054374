// SPDX-License-Identifier: Apache-2.0
// The receiver adds its buffers to a token: how much may be sent with it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "backplane/flow/flow_message.hpp"

namespace nacre::flow {

/// The receiver's part in the buffers that one token of its link carries (Rosu and Schwan, DVCM, section 4.2).
///
/// | event | then |
/// |---|---|
/// | data come | what was sent with the token up to them is here, or lost |
/// | WANTED | there is room: ROOM; there is none: the holder is kept, and a look every eighth of the patience |
/// | the same WANTED again, a patience later | what has not come by now is lost; as above |
///
/// Room is the token's share of the buffers, less its share of what is held, less what is under way: sent, and neither
/// here nor lost. Sums count from the beginning of an epoch, so that lost and doubled messages do no harm.
///
/// Each holder gets room in the end: what it has sent has come or is taken for lost, and what is held ends, or counts
/// as nothing once the rank has nothing to run.
class token_room {
 public:
  /// `settings`: of one permit; `permits`: of the link.
  token_room(rank_id self, std::uint32_t permits, const link_settings& settings, flow_host& host) noexcept
      : self_(self), permits_(permits), settings_(settings), host_(host) {}

  void on_wanted(rank_id source, const message& m, nanoseconds now);
  void on_arrival(const token_stamp& stamp) noexcept;
  void tick(nanoseconds now) {
    if (now >= due_) look(now);
  }
  [[nodiscard]] nanoseconds due() const noexcept { return due_; }

 private:
  static constexpr nanoseconds never = nanoseconds::max();
  struct asker {
    rank_id rank;
    token_stamp stamp;
    std::uint64_t bytes;  // of its next message
  };
  void look(nanoseconds now);

  rank_id self_;
  std::uint32_t permits_;
  const link_settings& settings_;
  flow_host& host_;
  std::uint32_t epoch_ = 1;
  std::uint64_t come_ = 0;  // of the bytes sent with the token: up to here they are here, or lost
  std::optional<asker> asker_;
  nanoseconds asked_at_{0};
  nanoseconds due_ = never;
};

}  // namespace nacre::flow
