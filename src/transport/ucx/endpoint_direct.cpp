// SPDX-License-Identifier: Apache-2.0
// How a rank's endpoint moves the bytes of copies between memories; memory_copies decides which.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/spin.hpp"
#include "transport/ucx/endpoint.hpp"

namespace nacre::transport::ucx {
namespace {

constexpr auto bulk_channel = static_cast<std::uint32_t>(channel::bulk);
constexpr std::uint32_t rounds_between_control_polls = 256;
constexpr std::uint32_t quiet_rounds_max = 10'000;

}  // namespace

std::optional<registered_region> ucx_endpoint::register_region(rank_id target, std::span<std::byte> bytes,
                                                               copy_way way) {
  const std::scoped_lock lock(lock_);
  return registered_region{.id = copies_.add_region(target.value(), bytes, way)};
}

void ucx_endpoint::deregister(rank_id source, const registered_region& region) noexcept {
  const auto id = static_cast<std::uint32_t>(region.id);
  if (help_until(source.value(), [&] { return copies_.remove_idle_region(id); })) return;
  const std::scoped_lock lock(lock_);
  copies_.remove_region(id);  // the peer is gone
}

copy_outcome ucx_endpoint::copy(const direct_copy& copy) {
  const std::scoped_lock lock(lock_);
  const copy_id id{copy.peer.value(), static_cast<std::uint32_t>(copy.region.id)};
  if (id.id != copy.region.id || peers_[id.far].now != peer::state::present) return copy_outcome::failed;
  if (!copies_.start(id, copy)) return copy_outcome::failed;
  if (copy.way == copy_way::from_region) {
    send_control_frames();
  } else {
    send_bytes(transfer::kind::own_leaves, frame_kind::given, id, copy.local_memory);
  }
  return copy_outcome::pending;
}

void ucx_endpoint::stop(std::uint64_t tag) noexcept {
  std::uint32_t far = rank_.value();
  {
    const std::scoped_lock lock(lock_);
    const auto copy = copies_.find(tag);
    if (!copy) return;
    far = copy->far;
    copies_.stop(*copy);
  }
  help_until(far, [&] {
    const auto copy = copies_.find(tag);
    return !copy || !copies_.in_use(*copy);
  });
}

std::optional<direct_memory::ended_copy> ucx_endpoint::take_ended() {
  const std::scoped_lock lock(lock_);
  return copies_.take_ended();
}

/// Makes progress until the condition, which is called under the lock, holds: true. False: the peer is gone, and all
/// that it had in flight has arrived. Messages that arrive meanwhile are left to the next poll.
template <class Condition>
bool ucx_endpoint::help_until(std::uint32_t far, Condition is_over) {
  backoff waiting;
  std::uint32_t quiet_rounds = 0;
  for (std::uint32_t rounds = 0;; ++rounds) {
    {
      const std::scoped_lock lock(lock_);
      const bool ended = is_over();
      if (ended || quiet_rounds == quiet_rounds_max) {
        if (!seen_.empty() || copies_.has_ended()) wake();
        return ended;
      }
      const bool moved = progress(seen_, seen_.size() + 1);
      if (rounds % rounds_between_control_polls == 0) poll_control();
      const bool is_gone = peers_[far].now == peer::state::lost || peers_[far].now == peer::state::left;
      quiet_rounds = is_gone && !moved ? quiet_rounds + 1 : 0;
    }
    waiting.pause();
  }
}

void ucx_endpoint::send_bytes(transfer::kind as, frame_kind kind, copy_id id, std::span<const std::byte> bytes) {
  transfer& transfer = begin(as, {id.far, bulk_channel});
  transfer.frame_stamp.sequence = id.id;
  transfer.number = id.id;
  peers_[id.far].links[bulk_channel].flushed = false;
  const outcome outcome = port_->send(id.far, bulk_channel, kind, transfer.frame_stamp, bytes, transfer.request_id);
  if (outcome != outcome::pending && as != transfer::kind::control) end_leaving(transfer, outcome == outcome::done);
  handle_outcome(transfer, outcome);
}

void ucx_endpoint::send_control_frames() {
  while (const auto next = copies_.next_frame()) {
    if (peers_[next->copy.far].now != peer::state::present) continue;
    // A region is busy while its bytes leave, so `deregister` waits for it.
    const bool leaves = next->kind == frame_kind::taken;
    send_bytes(leaves ? transfer::kind::region_leaves : transfer::kind::control, next->kind, next->copy, next->bytes);
  }
}

/// Starts to receive bytes that are no message, if they have a destination.
port_callbacks::place ucx_endpoint::place_for_bytes(frame_kind kind, copy_id id, std::size_t byte_count) {
  std::byte* const target = copies_.destination(kind, id, byte_count);
  if (target == nullptr) return {};
  transfer& transfer = begin(transfer::kind::landing, {id.far, bulk_channel});
  transfer.number = id.id;
  transfer.as = kind;
  return {.address = target, .request_id = transfer.request_id};
}

void ucx_endpoint::end_landing(const transfer& transfer, bool well) {
  copies_.landed(transfer.as, {transfer.peer_place.peer, static_cast<std::uint32_t>(transfer.number)}, well);
  if (!well) suspect(transfer.peer_place.peer, "bytes of memory did not arrive");
}

void ucx_endpoint::end_leaving(const transfer& transfer, bool well) {
  const copy_id id{transfer.peer_place.peer, static_cast<std::uint32_t>(transfer.number)};
  if (transfer.stage == transfer::kind::region_leaves) return copies_.region_left(id);
  copies_.own_left(id, well);
}

}  // namespace nacre::transport::ucx
