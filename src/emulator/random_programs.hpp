// SPDX-License-Identifier: Apache-2.0
// For tests: random machines, and random programs on them.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include <nacre/emulator.hpp>

namespace nacre::emulator {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0, std::uint64_t d = 0) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15 + (b ^ c << 17 ^ d << 40) + 0x632be59bd9b4e019;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

struct random_job {
  std::uint64_t seed;
  std::uint32_t ranks, workers, blocks;
  bool rotate, simulated;
};
inline random_job random_job_of(std::uint64_t seed) {
  const std::uint64_t r = mix(seed, 77);
  return {seed,
          static_cast<std::uint32_t>(1 + r % 3),
          static_cast<std::uint32_t>(1 + (r >> 8) % 3),
          static_cast<std::uint32_t>(1 + (r >> 16) % 9),
          (r >> 24) % 2 == 0,
          (r >> 25) % 3 != 0};
}

/// Whether links have contention.
enum class random_links { open, contended };
inline emulated_machine random_machine(std::uint64_t seed, random_links links) {
  const auto draw = [&](std::uint64_t number, std::uint64_t below) { return mix(seed, number, 5) % below; };
  emulated_machine m{.grid = {1 + draw(1, 5), 1 + draw(2, 4), 1 + draw(3, 4)},
                     .threads = static_cast<std::uint32_t>(1 + draw(4, 5)),
                     .hop = std::chrono::nanoseconds(draw(5, 3) * 7),
                     .turn = std::chrono::nanoseconds(draw(6, 3) * 40),
                     .handler = std::chrono::nanoseconds(draw(7, 3) * 50)};
  m.communication_threads = static_cast<std::uint32_t>(draw(8, m.threads));
  m.turns = draw(9, 2) == 0 ? turn_rule::once : turn_rule::counted;
  m.topology = draw(10, 2) == 0 ? emulated_topology::mesh : emulated_topology::torus;
  if (const std::uint64_t switches = draw(20, 4); switches < 2) {
    m.topology = switches == 0 ? emulated_topology::fat_tree : emulated_topology::dragonfly;
    m.switch_ports = static_cast<std::uint32_t>((switches == 0 || m.nodes() <= 72 ? 2 : 3) + draw(21, 3));
  }
  m.bandwidth = draw(11, 3) == 0 ? 1e9 : 0;
  m.injection = std::chrono::nanoseconds(draw(12, 3) * 25);
  m.output_packets = static_cast<std::uint32_t>(draw(13, 4));
  m.input_packets = static_cast<std::uint32_t>(draw(14, 4));
  // A mesh has a way around nodes that are missing inside of it, one of them at most on each line.
  if (draw(15, 2) == 0 && m.grid.x > 2 && m.grid.y > 2) m.missing = {{1, 1, 0}};
  if (m.hop.count() + m.handler.count() == 0) m.hop = std::chrono::nanoseconds(3);
  m.contention = links == random_links::contended;
  if (m.contention) {
    constexpr std::array<double, 3> bandwidths{1e9, 3e9, 1e8};  // a packet takes 128, 43 or 1,280 ns
    m.bandwidth = bandwidths[draw(17, 3)];
    if (m.hop.count() == 0) m.hop = std::chrono::nanoseconds(draw(19, 8) == 0 ? 1 : 5);
    if (draw(18, 4) == 0 && m.grid.x > 3 && m.grid.y > 2) m.missing.push_back({3, 1, 0});
  }
  return m;
}

/// Something that a handler does. Handlers of one key on one history do the same in every emulator.
struct random_action {
  enum { charge, task, packet, wide_packet } kind;
  std::int64_t delay;
  std::uint16_t thread;
  coordinates target;
  std::uint32_t key;
};
inline std::uint16_t random_thread(const emulated_machine& m, std::uint64_t r) {
  if (r % 4 == 0) return static_cast<std::uint16_t>((r >> 8) % m.threads);
  return r % 4 == 1 ? emulated::placement::any_communication : emulated::placement::any_worker;
}
/// The low byte of a key is the number of generations that follow.
inline std::vector<random_action> random_actions(const emulated_machine& m, std::uint64_t seed, std::uint64_t history,
                                                 std::uint32_t key) {
  std::vector<random_action> actions;
  if (key % 256 == 0) return actions;
  const std::uint64_t r = mix(seed, history, key);
  for (std::uint64_t k = 0; k < 1 + r % 4; ++k) {
    const std::uint64_t a = mix(r, k, 3);
    const std::uint64_t b = mix(r, k, 4);
    constexpr std::array<std::int64_t, 6> delays{0, 0, 1, 30, 400, 2'000'000};
    const coordinates target{b % static_cast<std::uint64_t>(m.grid.x), (b >> 16) % static_cast<std::uint64_t>(m.grid.y),
                             (b >> 32) % static_cast<std::uint64_t>(m.grid.z)};
    if (std::find(m.missing.begin(), m.missing.end(), target) != m.missing.end()) continue;
    actions.push_back({static_cast<decltype(random_action::kind)>(a % 4), delays[(a >> 8) % delays.size()],
                       random_thread(m, a >> 16), target, static_cast<std::uint32_t>(b << 8 | (key % 256 - 1))});
    if (actions.back().kind == random_action::wide_packet) actions.back().delay = 0;
    if (actions.back().kind == random_action::charge) actions.back().delay %= 1000;
  }
  return actions;
}
/// The key that the start function acts on; 0 for a node that does not start.
inline std::uint32_t first_key(const emulated_machine& m, std::uint64_t seed, const coordinates& place) {
  if (std::find(m.missing.begin(), m.missing.end(), place) != m.missing.end()) return 0;
  const std::uint64_t r = mix(seed, 11, static_cast<std::uint64_t>(place.x + 64 * place.y + 4096 * place.z));
  return r % 3 == 0 ? static_cast<std::uint32_t>(r << 8 | (4 + (r >> 8) % 4)) : 0;
}

}  // namespace nacre::emulator
