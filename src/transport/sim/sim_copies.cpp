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

sim_copies::sim_copies(sim_fabric::state& of, std::uint32_t ranks) : shared_(of), sites_(ranks) {}

lent_memory sim_copies::lend(rank_id owner, rank_id to, std::span<std::byte> bytes, copy_way what) {
  const std::uint64_t id = ++last_id_;
  sites_[owner.value()].lent.emplace(id, lent_piece{to, bytes, what});
  return {.id = id};
}

void sim_copies::recall(rank_id owner, const lent_memory& what) noexcept { sites_[owner.value()].lent.erase(what.id); }

void sim_copies::start(rank_id by, const direct_copy& what) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(journeys_.size()));
    journeys_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  journeys_[index] = {.by = by, .what = what, .under_way = true};
  ++under_way_;
  depart(index, what.way == copy_way::to_lent);
}

void sim_copies::stop(rank_id by, std::uint64_t tag) noexcept {
  for (journey& each : journeys_) {
    if (each.under_way && each.by == by && each.what.tag == tag) each.stopped = true;
  }
}

std::optional<direct_memory::ended_copy> sim_copies::take_ended(rank_id by) {
  std::deque<direct_memory::ended_copy>& ended = sites_[by.value()].ended;
  if (ended.empty()) return std::nullopt;
  const direct_memory::ended_copy first = ended.front();
  ended.pop_front();
  --under_way_;
  return first;
}

void sim_copies::close(rank_id rank) noexcept {
  under_way_ -= sites_[rank.value()].ended.size();
  sites_[rank.value()] = {};
  for (journey& each : journeys_) {
    if (each.by == rank) each.stopped = true;
  }
}

machine::transfer sim_copies::leg_of(const journey& of, bool with_bytes) const noexcept {
  return {.from = of.homeward ? of.what.peer : of.by,
          .to = of.homeward ? of.by : of.what.peer,
          .lane = channel::bulk,
          .bytes = word_bytes + (with_bytes ? of.what.own.size() : 0)};
}

void sim_copies::depart(std::uint32_t index, bool with_bytes) {
  const machine::departure way = shared_.net.depart(leg_of(journeys_[index], with_bytes), shared_.clock.now());
  shared_.clock.at(way.head_arrives, &reach, this, index);
}

void sim_copies::reach(void* self, std::uint64_t index) {
  auto& all = *static_cast<sim_copies*>(self);
  const journey& of = all.journeys_[index];
  const bool with_bytes = of.homeward == (of.what.way == copy_way::from_lent);
  sim_fabric::state& shared = all.shared_;
  shared.clock.at(shared.net.arrive(all.leg_of(of, with_bytes), shared.clock.now()), &complete, self, index);
}

void sim_copies::complete(void* self, std::uint64_t index) {
  auto& all = *static_cast<sim_copies*>(self);
  journey& of = all.journeys_[index];
  all.shared_.clock.trace(std::uint64_t{of.by.value()} << 32 | of.what.peer.value(), of.what.tag);
  if (of.homeward) {
    all.come_home(of);
    all.free_.push_back(static_cast<std::uint32_t>(index));
    return;
  }
  all.copy_at_lender(of);
  of.homeward = true;
  all.depart(static_cast<std::uint32_t>(index), of.what.way == copy_way::from_lent);
}

void sim_copies::copy_at_lender(journey& of) {
  auto& lent = sites_[of.what.peer.value()].lent;
  const auto at = lent.find(of.what.lent.id);
  if (of.stopped || at == lent.end()) return;
  const lent_piece& piece = at->second;
  if (piece.to != of.by || piece.what != of.what.way || piece.bytes.size() != of.what.own.size()) return;
  of.well = true;
  if (of.what.way == copy_way::from_lent) {
    of.taken.assign(piece.bytes.begin(), piece.bytes.end());
  } else {
    std::copy(of.what.own.begin(), of.what.own.end(), piece.bytes.begin());
  }
  lent.erase(at);  // it was for one copy
}

void sim_copies::come_home(journey& of) {
  if (of.what.way == copy_way::from_lent && of.well) {
    of.well = !of.stopped;
    if (of.well) std::copy(of.taken.begin(), of.taken.end(), of.what.own.begin());
  }
  of.taken = {};
  of.under_way = false;
  sim_fabric::state::node& home = shared_.at(of.by);
  if (home.now == sim_fabric::state::phase::closed) {
    --under_way_;
    return;
  }
  sites_[of.by.value()].ended.push_back({.tag = of.what.tag, .well = of.well});
  if (home.arrived != nullptr) home.arrived(home.subject);
}

}  // namespace nacre::transport
