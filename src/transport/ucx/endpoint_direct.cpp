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

std::optional<registered_region> ucx_endpoint::register_region(rank_id to, std::span<std::byte> bytes, copy_way what) {
  const std::scoped_lock lock(lock_);
  return registered_region{.id = copies_.add_region(to.value(), bytes, what)};
}

void ucx_endpoint::deregister(rank_id from, const registered_region& what) noexcept {
  const auto id = static_cast<std::uint32_t>(what.id);
  if (help_until(from.value(), [&] { return copies_.remove_idle_region(id); })) return;
  const std::scoped_lock lock(lock_);
  copies_.remove_region(id);  // the peer is gone
}

copy_outcome ucx_endpoint::copy(const direct_copy& what) {
  const std::scoped_lock lock(lock_);
  const copy_id which{what.peer.value(), static_cast<std::uint32_t>(what.region.id)};
  if (which.id != what.region.id || peers_[which.far].now != peer::state::present) return copy_outcome::failed;
  if (!copies_.start(which, what)) return copy_outcome::failed;
  if (what.way == copy_way::from_region) {
    send_control_frames();
  } else {
    send_bytes(transfer::kind::own_leaves, frame_kind::given, which, what.own);
  }
  return copy_outcome::pending;
}

void ucx_endpoint::stop(std::uint64_t tag) noexcept {
  std::uint32_t far = rank_.value();
  {
    const std::scoped_lock lock(lock_);
    const auto which = copies_.find(tag);
    if (!which) return;
    far = which->far;
    copies_.stop(*which);
  }
  help_until(far, [&] {
    const auto which = copies_.find(tag);
    return !which || !copies_.in_use(*which);
  });
}

std::optional<direct_memory::ended_copy> ucx_endpoint::take_ended() {
  const std::scoped_lock lock(lock_);
  return copies_.take_ended();
}

/// Makes progress until the condition, which is called under the lock, holds: true. False: the peer is gone, and all
/// that it had in flight has arrived. Messages that arrive meanwhile are left to the next poll.
template <class Condition>
bool ucx_endpoint::help_until(std::uint32_t far, Condition over) {
  backoff waiting;
  std::uint32_t quiet_rounds = 0;
  for (std::uint32_t rounds = 0;; ++rounds) {
    {
      const std::scoped_lock lock(lock_);
      const bool ended = over();
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

void ucx_endpoint::send_bytes(transfer::kind as, frame_kind what, copy_id which, std::span<const std::byte> bytes) {
  transfer& it = begin(as, {which.far, bulk_channel});
  it.with.sequence = which.id;
  it.number = which.id;
  peers_[which.far].links[bulk_channel].flushed = false;
  const outcome how = port_->send(which.far, bulk_channel, what, it.with, bytes, it.request_id);
  if (how != outcome::pending && as != transfer::kind::control) end_leaving(it, how == outcome::done);
  handle_outcome(it, how);
}

void ucx_endpoint::send_control_frames() {
  while (const auto next = copies_.next_frame()) {
    if (peers_[next->of.far].now != peer::state::present) continue;
    // A region is busy while its bytes leave, so `deregister` waits for it.
    const bool leaves = next->what == frame_kind::taken;
    send_bytes(leaves ? transfer::kind::region_leaves : transfer::kind::control, next->what, next->of, next->bytes);
  }
}

/// Starts to receive bytes that are no message, if they have a destination.
port_callbacks::place ucx_endpoint::place_for_bytes(frame_kind what, copy_id which, std::size_t byte_count) {
  std::byte* const into = copies_.destination(what, which, byte_count);
  if (into == nullptr) return {};
  transfer& it = begin(transfer::kind::landing, {which.far, bulk_channel});
  it.number = which.id;
  it.as = what;
  return {.at = into, .request_id = it.request_id};
}

void ucx_endpoint::end_landing(const transfer& it, bool well) {
  copies_.landed(it.as, {it.of.peer, static_cast<std::uint32_t>(it.number)}, well);
  if (!well) suspect(it.of.peer, "bytes of memory did not arrive");
}

void ucx_endpoint::end_leaving(const transfer& it, bool well) {
  const copy_id which{it.of.peer, static_cast<std::uint32_t>(it.number)};
  if (it.what == transfer::kind::region_leaves) return copies_.region_left(which);
  copies_.own_left(which, well);
}

}  // namespace nacre::transport::ucx
