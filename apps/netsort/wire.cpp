// SPDX-License-Identifier: Apache-2.0
// The exchange of keys between wires.
#include "wire.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <utility>

#include "network.hpp"

namespace netsort {

std::vector<key> half_of(const std::vector<key>& mine, const std::vector<key>& theirs, bool low) {
  std::vector<key> both;
  both.reserve(mine.size() + theirs.size());
  std::merge(mine.begin(), mine.end(), theirs.begin(), theirs.end(), std::back_inserter(both));
  const auto middle = both.begin() + static_cast<std::ptrdiff_t>(mine.size());
  return low ? std::vector<key>(both.begin(), middle)
             : std::vector<key>(both.end() - (middle - both.begin()), both.end());
}

std::vector<key> keys_of_wire(std::uint64_t seed, std::uint32_t wire, std::uint32_t count) {
  nacre::rng random = nacre::rng(seed).fork(wire);
  std::vector<key> keys(count);
  for (key& each : keys) each = random.next();
  return keys;
}

std::vector<key> sorted_keys_of_wire(std::uint64_t seed, std::uint32_t wire, std::uint32_t count) {
  std::vector<key> keys = keys_of_wire(seed, wire, count);
  std::sort(keys.begin(), keys.end());
  return keys;
}

void wire::begin(nacre::context& ctx, round_plan plan, std::vector<pointer> partners) {
  plan_ = plan;
  partners_ = std::move(partners);
  keys_ = sorted_keys_of_wire(plan.seed, number_, plan.keys);
  ctx.charge(static_cast<double>(keys_.size()) * plan_.costs.begin);
  step_ = 0;
  running_ = true;
  offer(ctx);
  go_on(ctx);
}

void wire::compare(nacre::context& ctx, std::uint32_t step, std::vector<key> theirs) {
  early_.emplace(step, std::move(theirs));
  if (running_) go_on(ctx);  // else a partner has begun before this wire
}

void wire::offer(nacre::context& ctx) {
  const comparator comparator = network(plan_.wires).at(number_, step_);
  ctx.send<&wire::compare>(partners_[static_cast<std::size_t>(std::countr_zero(comparator.distance))], step_, keys_);
}

/// Takes every step whose keys are there.
void wire::go_on(nacre::context& ctx) {
  const network network(plan_.wires);
  for (auto next = early_.find(step_); next != early_.end(); next = early_.find(step_)) {
    keys_ = half_of(keys_, next->second, network.at(number_, step_).keeps_low);
    early_.erase(next);
    ctx.charge(2 * static_cast<double>(keys_.size()) * plan_.costs.merge);
    if (++step_ == network.steps()) {
      running_ = false;
      return;
    }
    offer(ctx);
    if (plan_.wander != 0 && step_ % plan_.wander == 0) {
      const nacre::rank_id next_rank{(ctx.rank().value() + 1) % ctx.size()};
      static_cast<void>(ctx.migrate(ctx.self<wire>(), next_rank));  // after this handler
    }
  }
}

}  // namespace netsort
