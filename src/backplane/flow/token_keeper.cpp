// SPDX-License-Identifier: Apache-2.0
// Signs of a token, and its replacement.
#include "backplane/flow/token_keeper.hpp"

namespace nacre::flow {

void token_keeper::hint(rank_id to) {
  host_.send(to, {.kind = message_kind::hint, .link = self_, .about = holder_, .stamp = {epoch_, 0}});
}

bool token_keeper::on_lost(rank_id from, const message& m, nanoseconds now) {
  const nanoseconds silence = 2 * how_.patience;
  if (now < sign_at_ + silence || m.stamp.epoch > epoch_) {
    if (holder_ != from) hint(from);
    return false;
  }
  replace(from, now);
  return true;
}

void token_keeper::replace(rank_id by, nanoseconds now) {
  epoch_ += 1;
  holder_ = by;
  sign_at_ = now;
  host_.send(by, {.kind = message_kind::grant, .link = self_, .about = by, .stamp = {epoch_, 1}, .sent = now});
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (rank != self_.value() && rank != by.value()) hint(rank_id(rank));
  }
}

void token_keeper::on_sign(rank_id from, const token_stamp& stamp, nanoseconds now) {
  if (stamp.epoch < epoch_) return hint(from);
  holder_ = from;
  sign_at_ = now;
}

}  // namespace nacre::flow
