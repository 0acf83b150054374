// SPDX-License-Identifier: Apache-2.0
// Objects that go back and forth between two ranks.
#include "calibration/moves.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nacre::calibration {
namespace {

/// Goes back and forth between two ranks by itself.
template <class Load>
struct wanderer {
  Load load;
  void grow(std::uint32_t bytes) { load = Load(bytes); }
  void hop(context& ctx, std::uint32_t left) {
    if (left == 0) return;
    const auto self = ctx.self<wanderer>();
    static_cast<void>(ctx.migrate(self, rank_id(1 - ctx.rank().value())));
    ctx.send<&wanderer::hop>(self, left - 1);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(load);
  }
};

template <class Load>
moves moves_of(runtime& rt, std::uint32_t bytes, std::uint32_t moves_max) {
  moves result{};
  constexpr std::uint32_t small_max = 16384, large_in_all = 256u << 20, many = 64;
  const std::uint32_t usual = bytes > small_max ? std::clamp(large_in_all / bytes, 40u, 4000u) : 40'000;
  const std::uint32_t hops = std::min(usual, moves_max);
  rt.barrier();
  if (rt.rank() == rank_id(0)) {
    std::vector<mobile_ptr<wanderer<Load>>> all;
    for (std::uint32_t index = 0; index < (bytes > small_max ? 1 : many); ++index) {
      all.push_back(rt.create<wanderer<Load>>());
    }
    const auto wander = [&](std::size_t count, std::uint32_t each) {
      const double begin = rt.now();
      for (std::size_t index = 0; index < count; ++index) rt.send<&wanderer<Load>::hop>(all[index], each);
      rt.wait_quiescence();
      return rt.now() - begin;
    };
    for (const auto& p : all) rt.send<&wanderer<Load>::grow>(p, bytes);
    static_cast<void>(wander(all.size(), std::min(hops, 100u)));  // warms up
    result.one_way_us = wander(1, hops) / hops * 1e6;
    if (all.size() > 1) {
      const std::uint32_t each = hops * 8 / many;
      result.moves_a_second = static_cast<double>(each) * many / wander(many, each);
    }
    for (const auto& p : all) rt.destroy(p);
  }
  rt.barrier();
  return result;
}

}  // namespace

moves measure_moves(runtime& rt, std::uint32_t bytes, bool in_buffer, std::uint32_t moves_max) {
  return in_buffer ? moves_of<buffer>(rt, bytes, moves_max) : moves_of<std::vector<std::byte>>(rt, bytes, moves_max);
}

}  // namespace nacre::calibration
