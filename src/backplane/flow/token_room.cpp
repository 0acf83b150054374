// SPDX-License-Identifier: Apache-2.0
// Room in a receiver's buffers.
#include "backplane/flow/token_room.hpp"

#include <algorithm>

namespace nacre::flow {

void token_room::on_arrival(const token_stamp& stamp) noexcept {
  if (stamp.epoch < epoch_) return;
  if (stamp.epoch > epoch_) {
    epoch_ = stamp.epoch;
    come_ = 0;
    asker_.reset();
    due_ = never;
  }
  come_ = std::max(come_, stamp.used);
}

void token_room::on_wanted(rank_id source, const message& m, nanoseconds now) {
  if (m.stamp.epoch < epoch_) return;  // the keeper tells it so
  token_stamp begin = m.stamp;
  begin.used = 0;
  on_arrival(begin);  // of a newer epoch, if it is that
  const bool asks_again =
      asker_ && asker_->rank == source && asker_->stamp == m.stamp && asker_->stamp.used == m.stamp.used;
  if (!asks_again) {
    asked_at_ = now;
  } else if (now >= asked_at_ + settings_.patience / 2) {
    come_ = std::max(come_, m.stamp.used);
  }
  asker_ = asker{source, m.stamp, m.number};
  look(now);
}

void token_room::look(nanoseconds now) {
  due_ = never;
  if (!asker_) return;
  const std::uint64_t held = host_.held_bytes() / permits_;
  const std::uint64_t end = come_ + settings_.receive_bytes - std::min(settings_.receive_bytes, held);
  const std::uint64_t wanted = std::min(asker_->bytes, settings_.receive_bytes);
  if (end < asker_->stamp.used + wanted) {
    due_ = now + std::max(settings_.patience / 8, nanoseconds(1));
    return;
  }
  const auto room = static_cast<std::uint32_t>(std::min<std::uint64_t>(end - asker_->stamp.used, ~std::uint32_t{0}));
  host_.send(
      asker_->rank,
      {.kind = message_kind::room, .link = self_, .subject = asker_->rank, .stamp = asker_->stamp, .room = room});
  if (come_ >= asker_->stamp.used) asker_.reset();  // else a second WANTED is to be known as that
}

}  // namespace nacre::flow
