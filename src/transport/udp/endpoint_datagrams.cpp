// SPDX-License-Identifier: Apache-2.0
// Unreliable datagrams of a rank's endpoint of a job over datagrams.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <nacre/assert.hpp>

#include "transport/udp/endpoint.hpp"

namespace nacre::transport::udp {

bool udp_endpoint::sends_to(rank_id target) const noexcept { return target.value() < size() && target != rank_; }

bool udp_endpoint::send(rank_id destination, std::uint32_t label, byte_pieces bytes) {
  NACRE_EXPECT(sends_to(destination), "datagrams go to other ranks of the job");
  NACRE_EXPECT(bytes.size() <= pieces_max && bytes_in(bytes) <= bytes_max(), "a datagram has at most bytes_max bytes");
  peer& target = *peers_[destination.value()];
  if (target.now != peer::state::present || signed_off_) return true;  // nobody is there, so it is lost
  connection& link = target.parts.link;
  const std::size_t all = unreliable_head_bytes + bytes_in(bytes);
  if (!link.has_room_for_unreliable(all)) return false;
  if (!target.parts.socket.send(target.parts.apart.seal(label, bytes), bytes)) return false;
  link.note_unreliable(all);
  if (link.wants_to_send() && !target.blocked) let_leave(target, std::chrono::steady_clock::now());
  return true;
}

/// Keeps a datagram where it is, if it is authentic and new.
bool udp_endpoint::keep(rank_id source, std::span<const std::byte> bytes) {
  const auto opened = peers_[source.value()]->parts.apart.open(bytes);
  if (!opened) return false;
  kept_.push_back({.source = source, .label = opened->label, .bytes = opened->bytes});
  return true;
}

std::optional<received_datagram> udp_endpoint::take() {
  if (kept_taken_ == kept_.size()) return std::nullopt;
  return kept_[kept_taken_++];
}

void udp_endpoint::drop_kept() noexcept {
  kept_.clear();
  kept_taken_ = 0;
  batches_used_ = 0;
}

incoming_batch& udp_endpoint::batch() {
  if (incoming_.size() == batches_used_) incoming_.push_back(std::make_unique<incoming_batch>());
  return *incoming_[batches_used_];
}

}  // namespace nacre::transport::udp
