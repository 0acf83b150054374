// SPDX-License-Identifier: Apache-2.0
// The journey itself, counted by all ranks.
#include "journey.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <utility>

namespace hops {
namespace {

using nacre::rank_id;

/// The object that travels.
struct traveller {
  std::uint32_t met = 0;
  std::uint32_t meet() { return ++met; }
  std::uint32_t take(std::span<const std::byte>) { return ++met; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(met);
  }
};

/// Its home is no rank that it visits.
struct on_last_rank {
  rank_id operator()(const nacre::index&, const nacre::extents&, std::uint32_t ranks) const {
    return rank_id(ranks - 1);
  }
};

cost spent(nacre::runtime& rt) {
  rt.wait_quiescence();
  const nacre::rank_counters rank_counters = rt.counters();
  return {rt.all_reduce(rank_counters.hops, std::plus<>{}), rt.all_reduce(rank_counters.updates_sent, std::plus<>{})};
}

/// One round trip to the object; the answer is how many it has had.
std::uint32_t ask(nacre::runtime& rt, const nacre::mobile_ptr<traveller>& object, std::span<const std::byte> load) {
  return load.empty() ? rt.call<&traveller::meet>(object).get() : rt.call<&traveller::take>(object, load).get();
}

/// What `act`, which one rank does, costs in all.
template <class Act>
cost of(nacre::runtime& rt, std::uint32_t step, Act act) {
  const cost previous = spent(rt);
  if (rt.rank() == rank_id(step)) act();
  const cost last = spent(rt);
  return {last.hops - previous.hops, last.updates - previous.updates};
}

}  // namespace

std::vector<stop> counted(nacre::runtime& rt, nacre::location_policy policy, const plan& plan) {
  // The one element of an array, as arrays choose their policies while the program runs.
  const auto array =
      rt.create_array<traveller>(nacre::array_options{.location = policy}, nacre::extents{1}, on_last_rank{});
  const nacre::mobile_ptr<traveller> object = array[0];
  const rank_id rank(0);
  const std::vector<std::byte> load(plan.bytes);
  if (rt.rank() == array.home_of(0)) rt.migrate(object, rank).get();
  std::vector<stop> all;
  std::uint32_t met = 0;
  stop next;
  for (std::uint32_t moves = 1; moves <= plan.visits; ++moves) {
    // Asked for where the object is, so that nobody learns from the request.
    const cost move = of(rt, moves - 1, [&] { rt.migrate(object, rank_id(moves)).get(); });
    next.moving = {next.moving.hops + move.hops, next.moving.updates + move.updates};
    if (moves % plan.every != 0) continue;
    for (std::size_t index = 0; index < next.messages.size(); ++index) {
      next.messages[index] = of(rt, rank.value(), [&] {
        const double begin = rt.now();
        if (ask(rt, object, load) != ++met) throw std::runtime_error("a message came twice, or not at all");
        next.seconds[index] = rt.now() - begin;
      });
    }
    next.moves = moves;
    all.push_back(std::exchange(next, {}));
  }
  rt.destroy(array);
  return all;
}

}  // namespace hops
