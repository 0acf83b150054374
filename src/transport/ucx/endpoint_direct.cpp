// SPDX-License-Identifier: Apache-2.0
// Copies between the memories of two ranks: UCX moves the bytes from source to destination.
#include <algorithm>
#include <mutex>
#include <utility>

#include "base/spin.hpp"
#include "transport/ucx/endpoint.hpp"

/// All frames name a copy by the id of the region at its owner. They travel on the channel bulk.
///
/// | step | out of a region | into a region |
/// |---|---|---|
/// | 1 | copier: take | copier: given, announced |
/// | 2 | owner, if still registered: taken, announced | owner, if still registered: fetches it, landed |
/// | | else: refused | else: refused |
/// | 3 | copier, if the copy was not stopped: fetches it | - |
///
/// Announced bytes stay at their sender until the receiver's UCX has fetched them, or drops the request: by remote
/// access of the hardware, by the kernel, or in frames. Invariant: no peer knows the address of memory that receives.
/// This end decides whether to write to it when the bytes are announced, so until then the memory can be deregistered
/// at once.
///
/// Once a fetch has started, both ends finish without anything above UCX. So a thread that waits for the end needs no
/// handler to run, and it makes the progress of its own end itself.

namespace nacre::transport::ucx {
namespace {

constexpr auto bulk_channel = static_cast<std::uint32_t>(channel::bulk);
constexpr std::uint32_t rounds_between_control_polls = 256;
constexpr std::uint32_t quiet_rounds_max = 10'000;

}  // namespace

std::optional<registered_region> ucx_endpoint::register_region(rank_id to, std::span<std::byte> bytes, copy_way what) {
  const std::scoped_lock lock(lock_);
  do ++last_region_;
  while (regions_.contains(last_region_));
  regions_.emplace(last_region_, region_record{.to = to.value(), .bytes = bytes, .what = what});
  return registered_region{.id = last_region_};
}

void ucx_endpoint::deregister(rank_id from, const registered_region& what) noexcept {
  const auto id = static_cast<std::uint32_t>(what.id);
  const auto end_unless_busy = [&] {
    const auto at = regions_.find(id);
    if (at->second.now == region_record::state::busy) return false;
    regions_.erase(at);
    return true;
  };
  if (help_until(from.value(), end_unless_busy)) return;
  const std::scoped_lock lock(lock_);
  regions_.erase(id);  // the peer is gone
}

copy_outcome ucx_endpoint::copy(const direct_copy& what) {
  const std::scoped_lock lock(lock_);
  const copy_id which{what.peer.value(), static_cast<std::uint32_t>(what.region.id)};
  if (which.id != what.region.id || peers_[which.far].now != peer::state::present) return copy_outcome::failed;
  const auto [at, is_new] = copies_.emplace(which, active_copy{.what = what});
  if (!is_new) return copy_outcome::failed;
  if (what.way == copy_way::from_region) {
    control_frames_.push_back({frame_kind::take, which});
    send_control_frames();
  } else {
    at->second.leaving = true;
    send_bytes(transfer::kind::own_leaves, frame_kind::given, which, what.own);
  }
  return copy_outcome::pending;
}

void ucx_endpoint::stop(std::uint64_t tag) noexcept {
  const auto find = [&] {
    return std::find_if(copies_.begin(), copies_.end(), [&](const auto& each) { return each.second.what.tag == tag; });
  };
  std::uint32_t far = rank_.value();
  {
    const std::scoped_lock lock(lock_);
    const auto at = find();
    if (at == copies_.end()) return;
    far = at->first.far;
    if (!at->second.landing && !at->second.leaving && at->second.what.way == copy_way::from_region) {
      end_copy(at->first, false);
    }
  }
  help_until(far, [&] {
    const auto at = find();
    return at == copies_.end() || (!at->second.landing && !at->second.leaving);
  });
}

std::optional<direct_memory::ended_copy> ucx_endpoint::take_ended() {
  const std::scoped_lock lock(lock_);
  if (ended_copies_.empty()) return std::nullopt;
  const ended_copy first = ended_copies_.front();
  ended_copies_.pop_front();
  return first;
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
        if (!seen_.empty() || !ended_copies_.empty()) wake();
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
  for (std::size_t i = 0; i < control_frames_.size(); ++i) {
    const control_frame each = control_frames_[i];
    if (peers_[each.of.far].now != peer::state::present) continue;
    if (each.what != frame_kind::taken) {
      send_bytes(transfer::kind::control, each.what, each.of, {});
    } else {  // busy, so `deregister` waits for it
      send_bytes(transfer::kind::region_leaves, each.what, each.of, regions_.at(each.of.id).bytes);
    }
  }
  control_frames_.clear();
}

void ucx_endpoint::receive_control_frame(frame_kind what, const stamp& of) {
  const copy_id which{of.source, of.sequence};
  if (what == frame_kind::take) {
    const auto at = regions_.find(which.id);
    const bool here = at != regions_.end() && at->second.to == which.far && at->second.what == copy_way::from_region &&
                      at->second.now == region_record::state::idle;
    if (here) at->second.now = region_record::state::busy;
    control_frames_.push_back({here ? frame_kind::taken : frame_kind::refused, which});
    return;
  }
  const auto at = copies_.find(which);
  if (at == copies_.end()) return;
  const bool well = what == frame_kind::landed;
  if (at->second.landing || (well && at->second.what.way == copy_way::from_region)) return;
  if (at->second.leaving) {
    at->second.answer = well;
  } else {
    end_copy(which, well);
  }
}

port_callbacks::place ucx_endpoint::place_for_bytes(frame_kind what, const stamp& of, std::size_t byte_count) {
  const copy_id which{of.source, of.sequence};
  std::byte* into = nullptr;
  if (what == frame_kind::given) {
    const auto at = regions_.find(which.id);
    if (at != regions_.end() && at->second.to == which.far && at->second.what == copy_way::to_region &&
        at->second.now == region_record::state::idle && at->second.bytes.size() == byte_count) {
      at->second.now = region_record::state::busy;
      into = at->second.bytes.data();
    } else {
      control_frames_.push_back({frame_kind::refused, which});
    }
  } else if (what == frame_kind::taken) {
    const auto at = copies_.find(which);
    if (at != copies_.end() && at->second.what.way == copy_way::from_region && !at->second.landing) {
      if (at->second.what.own.size() == byte_count) {
        at->second.landing = true;
        into = at->second.what.own.data();
      } else {
        end_copy(which, false);
      }
    }
  }
  if (into == nullptr) return {};
  transfer& it = begin(transfer::kind::landing, {which.far, bulk_channel});
  it.number = which.id;
  it.as = what;
  return {.at = into, .request_id = it.request_id};
}

void ucx_endpoint::end_landing(const transfer& it, bool well) {
  const copy_id which{it.of.peer, static_cast<std::uint32_t>(it.number)};
  if (it.as == frame_kind::taken) {
    end_copy(which, well);
  } else {
    note_used(which);
    if (well) control_frames_.push_back({frame_kind::landed, which});  // else the peer cannot be reached any more
  }
  if (!well) suspect(it.of.peer, "bytes of memory did not arrive");
}

void ucx_endpoint::end_leaving(const transfer& it, bool well) {
  const copy_id which{it.of.peer, static_cast<std::uint32_t>(it.number)};
  if (it.what == transfer::kind::region_leaves) return note_used(which);
  active_copy& of = copies_.at(which);
  of.leaving = false;
  if (of.answer || !well) end_copy(which, well && *of.answer);
}

/// The region is gone if `deregister` has removed it because its peer was lost.
void ucx_endpoint::note_used(copy_id which) {
  if (const auto at = regions_.find(which.id); at != regions_.end()) at->second.now = region_record::state::used;
}

void ucx_endpoint::end_copy(copy_id which, bool well) {
  const auto at = copies_.find(which);
  ended_copies_.push_back({.tag = at->second.what.tag, .well = well});
  copies_.erase(at);
}

}  // namespace nacre::transport::ucx
