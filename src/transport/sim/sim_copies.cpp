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

sim_copies::sim_copies(sim_fabric::state& state, std::uint32_t ranks) : shared_(state), rank_states_(ranks) {}

registered_region sim_copies::register_region(rank_id owner, rank_id target, std::span<std::byte> bytes, copy_way way) {
  const std::uint64_t id = ++last_id_;
  rank_states_[owner.value()].regions.emplace(id, region_record{target, bytes, way});
  return {.id = id};
}

void sim_copies::deregister(rank_id owner, const registered_region& region) noexcept {
  rank_states_[owner.value()].regions.erase(region.id);
}

void sim_copies::start(rank_id rank, const direct_copy& copy) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(pending_copies_.size()));
    pending_copies_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  pending_copies_[index] = {.rank = rank, .copy = copy};
  link(index);
  ++under_way_;
  depart(index);
}

void sim_copies::link(std::uint32_t index) noexcept {
  std::uint32_t& first = rank_states_[pending_copies_[index].rank.value()].first;
  pending_copies_[index].next = first;
  if (first != none) pending_copies_[first].previous = index;
  first = index;
}

void sim_copies::unlink(std::uint32_t index) noexcept {
  const pending_copy& ended = pending_copies_[index];
  std::uint32_t& first = rank_states_[ended.rank.value()].first;
  (ended.previous == none ? first : pending_copies_[ended.previous].next) = ended.next;
  if (ended.next != none) pending_copies_[ended.next].previous = ended.previous;
}

void sim_copies::stop(rank_id rank, std::uint64_t tag) noexcept {
  for (std::uint32_t index = rank_states_[rank.value()].first; index != none; index = pending_copies_[index].next) {
    if (pending_copies_[index].copy.tag == tag) pending_copies_[index].stopped = true;
  }
}

std::optional<direct_memory::ended_copy> sim_copies::take_ended(rank_id rank) {
  std::deque<direct_memory::ended_copy>& ended = rank_states_[rank.value()].ended;
  if (ended.empty()) return std::nullopt;
  const direct_memory::ended_copy first = ended.front();
  ended.pop_front();
  --under_way_;
  return first;
}

void sim_copies::close(rank_id rank) noexcept {
  rank_state& closing = rank_states_[rank.value()];
  under_way_ -= closing.ended.size();
  closing.regions = {};
  closing.ended = {};
  for (std::uint32_t index = closing.first; index != none; index = pending_copies_[index].next)
    pending_copies_[index].stopped = true;
}

/// The bytes travel to the owner, or back from it.
machine::transfer sim_copies::transfer_of(const pending_copy& copy) noexcept {
  const bool with_bytes = copy.returning == (copy.copy.way == copy_way::from_region);
  return {.source = copy.returning ? copy.copy.peer : copy.rank,
          .target = copy.returning ? copy.rank : copy.copy.peer,
          .on_channel = channel::bulk,
          .bytes = word_bytes + (with_bytes ? copy.copy.local_memory.size() : 0)};
}

void sim_copies::depart(std::uint32_t index) {
  pending_copy& leaving = pending_copies_[index];
  const machine::transfer sent = transfer_of(leaving);
  const machine::departure departed = shared_.send_off(sent);
  const bool over_links = shared_.net.has_links(sent.source, sent.target);
  if (over_links) leaving.way = shared_.net.first_link(sent.source, sent.target);
  shared_.clock.at(departed.head_arrives, over_links ? &cross : &reach, this, index);
}

void sim_copies::cross(void* self, std::uint64_t index) {
  auto& all = *static_cast<sim_copies*>(self);
  pending_copy& passing = all.pending_copies_[index];
  const machine::network::crossing link = all.shared_.take_link(transfer_of(passing), passing.way);
  all.shared_.clock.at(link.head, link.is_last ? &reach : &cross, self, index);
}

void sim_copies::reach(void* self, std::uint64_t index) {
  auto& all = *static_cast<sim_copies*>(self);
  sim_fabric::state& shared = all.shared_;
  const machine::transfer sent = transfer_of(all.pending_copies_[index]);
  shared.clock.at(shared.net.arrive(sent, shared.clock.now()), &complete, self, index);
}

void sim_copies::complete(void* self, std::uint64_t index) {
  auto& all = *static_cast<sim_copies*>(self);
  pending_copy& copy = all.pending_copies_[index];
  all.shared_.clock.trace(std::uint64_t{copy.rank.value()} << 32 | copy.copy.peer.value(), copy.copy.tag);
  if (copy.returning) {
    all.finish(static_cast<std::uint32_t>(index));
    all.free_.push_back(static_cast<std::uint32_t>(index));
    return;
  }
  all.copy_at_owner(copy);
  copy.returning = true;
  all.depart(static_cast<std::uint32_t>(index));
}

void sim_copies::copy_at_owner(pending_copy& copy) {
  auto& regions = rank_states_[copy.copy.peer.value()].regions;
  const auto position = regions.find(copy.copy.region.id);
  if (copy.stopped || position == regions.end()) return;
  const region_record& piece = position->second;
  if (piece.peer != copy.rank || piece.way != copy.copy.way || piece.bytes.size() != copy.copy.local_memory.size())
    return;
  copy.well = true;
  if (copy.copy.way == copy_way::from_region) {
    copy.taken.assign(piece.bytes.begin(), piece.bytes.end());
  } else {
    std::copy(copy.copy.local_memory.begin(), copy.copy.local_memory.end(), piece.bytes.begin());
  }
  regions.erase(position);  // it was for one copy
}

void sim_copies::finish(std::uint32_t index) {
  pending_copy& copy = pending_copies_[index];
  if (copy.copy.way == copy_way::from_region && copy.well) {
    copy.well = !copy.stopped;
    if (copy.well) std::copy(copy.taken.begin(), copy.taken.end(), copy.copy.local_memory.begin());
  }
  copy.taken = {};
  unlink(index);
  sim_fabric::state::simulated_rank& initiator = shared_.at(copy.rank);
  if (initiator.now == sim_fabric::state::phase::closed) {
    --under_way_;
    return;
  }
  rank_states_[copy.rank.value()].ended.push_back({.tag = copy.copy.tag, .well = copy.well});
  if (initiator.arrived != nullptr) initiator.arrived(initiator.subject);
}

}  // namespace nacre::transport
