// SPDX-License-Identifier: Apache-2.0
// Signs of a token, and its replacement.
#include "backplane/flow/token_keeper.hpp"

namespace nacre::flow {

void token_keeper::hint(rank_id target) {
  host_.send(target, {.kind = message_kind::hint, .link = self_, .subject = holder_, .stamp = {epoch_, 0, permit_}});
}

bool token_keeper::on_lost(rank_id source, const message& m, nanoseconds now) {
  const nanoseconds silence = 2 * settings_.patience;
  if (now < sign_at_ + silence || m.stamp.epoch > epoch_) {
    if (holder_ != source) hint(source);
    return false;
  }
  replace(source, now);
  return true;
}

void token_keeper::replace(rank_id owner, nanoseconds now) {
  epoch_ += 1;
  holder_ = owner;
  sign_at_ = now;
  host_.send(
      owner,
      {.kind = message_kind::grant, .link = self_, .subject = owner, .stamp = {epoch_, 1, permit_}, .sent = now});
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (rank != self_.value() && rank != owner.value()) hint(rank_id(rank));
  }
}

void token_keeper::on_sign(rank_id source, const token_stamp& stamp, nanoseconds now) {
  if (stamp.epoch < epoch_) return hint(source);
  holder_ = source;
  sign_at_ = now;
}

}  // namespace nacre::flow
