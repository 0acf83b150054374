// SPDX-License-Identifier: Apache-2.0
// The rank at a link's end replaces the link's token when it is lost.
#pragma once

#include <chrono>
#include <cstdint>

#include "backplane/flow/flow_message.hpp"

namespace nacre::flow {

/// Decides when a token is lost. Only the keeper makes tokens, one for each epoch; so there are never two of one epoch.
///
/// | a LOST comes from a rank, and | then |
/// |---|---|
/// | the token has shown itself, or has been replaced, during the last `silence` | HINT to that rank: its last holder |
/// | the LOST names an epoch newer than the keeper's | HINT to that rank: the last holder |
/// | else | the next epoch: GRANT to that rank, HINT to all others |
///
/// The last holder is the last one that the keeper knows of; it gets no HINT for its own LOST. `silence` is twice
/// link_settings::patience. The token shows itself by data that arrive, and by the hints of a holder that has nothing
/// more to send. Data of an old epoch are answered by a HINT, upon which their sender drops its token.
class token_keeper {
 public:
  /// `permit`: which token of the link this is.
  token_keeper(rank_id self, std::uint32_t ranks, std::uint8_t permit, const link_settings& settings,
               flow_host& host) noexcept
      : self_(self), ranks_(ranks), permit_(permit), settings_(settings), host_(host), holder_(self) {}

  /// LOST. Returns true when there is a new epoch.
  bool on_lost(rank_id source, const message& m, nanoseconds now);
  /// Data have come from a holder, or it tells that it is one.
  void on_sign(rank_id source, const token_stamp& stamp, nanoseconds now);

  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] rank_id holder() const noexcept { return holder_; }

 private:
  void hint(rank_id target);
  void replace(rank_id rank, nanoseconds now);

  rank_id self_;
  std::uint32_t ranks_;
  std::uint8_t permit_;
  const link_settings& settings_;
  flow_host& host_;
  std::uint32_t epoch_ = 1;
  rank_id holder_;          // the last one known
  nanoseconds sign_at_{0};  // the last sign of the token
};

}  // namespace nacre::flow
