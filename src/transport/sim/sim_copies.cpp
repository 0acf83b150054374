// SPDX-License-Identifier: Apache-2.0
// The way of a copy through the simulated network, there and back.
#include "transport/sim/sim_copies.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/sim/sim_state.hpp"

namespace nacre::transport {
namespace {

constexpr std::uint64_t word_bytes = 64;  // of a transfer that carries no memory

}  // namespace

sim_copies::sim_copies(sim_fabric::state& of, std::uint32_t ranks) : shared_(of), rank_states_(ranks) {}

registered_region sim_copies::register_region(rank_id owner, rank_id to, std::span<std::byte> bytes, copy_way what) {
  const std::uint64_t id = ++last_id_;
  rank_states_[owner.value()].regions.emplace(id, region_record{to, bytes, what});
  return {.id = id};
}

void sim_copies::deregister(rank_id owner, const registered_region& what) noexcept {
  rank_states_[owner.value()].regions.erase(what.id);
}

void sim_copies::start(rank_id by, const direct_copy& what) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pending_copies_.size()));
    pending_copies_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  pending_copies_[index] = {.by = by, .what = what, .under_way = true};
  ++under_way_;
  depart(index, what.way == copy_way::to_region);
}

void sim_copies::stop(rank_id by, std::uint64_t tag) noexcept {
  for (pending_copy& each : pending_copies_) {
    if (each.under_way && each.by == by && each.what.tag == tag) each.stopped = true;
  }
}

std::optional<direct_memory::ended_copy> sim_copies::take_ended(rank_id by) {
  std::deque<direct_memory::ended_copy>& ended = rank_states_[by.value()].ended;
  if (ended.empty()) return std::nullopt;
  const direct_memory::ended_copy first = ended.front();
  ended.pop_front();
  --under_way_;
  return first;
}

void sim_copies::close(rank_id rank) noexcept {
  under_way_ -= rank_states_[rank.value()].ended.size();
  rank_states_[rank.value()] = {};
  for (pending_copy& each : pending_copies_) {
    if (each.by == rank) each.stopped = true;
  }
}

machine::transfer sim_copies::transfer_of(const pending_copy& of, bool with_bytes) const noexcept {
  return {.from = of.returning ? of.what.peer : of.by,
          .to = of.returning ? of.by : of.what.peer,
          .on_channel = channel::bulk,
          .bytes = word_bytes + (with_bytes ? of.what.own.size() : 0)};
}

void sim_copies::depart(std::uint32_t index, bool with_bytes) {
  const machine::departure way =
      shared_.net.depart(transfer_of(pending_copies_[index], with_bytes), shared_.clock.now());
  shared_.clock.at(way.head_arrives, &reach, this, index);
}

void sim_copies::reach(void* self, std::uint64_t index) {
  auto& all = *static_cast<sim_copies*>(self);
  const pending_copy& of = all.pending_copies_[index];
  const bool with_bytes = of.returning == (of.what.way == copy_way::from_region);
  sim_fabric::state& shared = all.shared_;
  shared.clock.at(shared.net.arrive(all.transfer_of(of, with_bytes), shared.clock.now()), &complete, self, index);
}

void sim_copies::complete(void* self, std::uint64_t index) {
  auto& all = *static_cast<sim_copies*>(self);
  pending_copy& of = all.pending_copies_[index];
  all.shared_.clock.trace(std::uint64_t{of.by.value()} << 32 | of.what.peer.value(), of.what.tag);
  if (of.returning) {
    all.finish(of);
    all.free_.push_back(static_cast<std::uint32_t>(index));
    return;
  }
  all.copy_at_owner(of);
  of.returning = true;
  all.depart(static_cast<std::uint32_t>(index), of.what.way == copy_way::from_region);
}

void sim_copies::copy_at_owner(pending_copy& of) {
  auto& regions = rank_states_[of.what.peer.value()].regions;
  const auto at = regions.find(of.what.region.id);
  if (of.stopped || at == regions.end()) return;
  const region_record& piece = at->second;
  if (piece.to != of.by || piece.what != of.what.way || piece.bytes.size() != of.what.own.size()) return;
  of.well = true;
  if (of.what.way == copy_way::from_region) {
    of.taken.assign(piece.bytes.begin(), piece.bytes.end());
  } else {
    std::copy(of.what.own.begin(), of.what.own.end(), piece.bytes.begin());
  }
  regions.erase(at);  // it was for one copy
}

void sim_copies::finish(pending_copy& of) {
  if (of.what.way == copy_way::from_region && of.well) {
    of.well = !of.stopped;
    if (of.well) std::copy(of.taken.begin(), of.taken.end(), of.what.own.begin());
  }
  of.taken = {};
  of.under_way = false;
  sim_fabric::state::simulated_rank& initiator = shared_.at(of.by);
  if (initiator.now == sim_fabric::state::phase::closed) {
    --under_way_;
    return;
  }
  rank_states_[of.by.value()].ended.push_back({.tag = of.what.tag, .well = of.well});
  if (initiator.arrived != nullptr) initiator.arrived(initiator.subject);
}

}  // namespace nacre::transport
