// SPDX-License-Identifier: Apache-2.0
// The random program: objects that send, call, move and end each other, under the eyes of an oracle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <nacre/nacre.hpp>

#include "campaign/memory.hpp"
#include "campaign/oracle.hpp"

namespace campaign {

/// How the mains of a phase find out that it is over.
enum class ending : std::uint8_t { barrier, quiescence, handler_checks, handler_goes_on };

/// One program, as drawn from a seed, and its oracle. Messages carry its address: all ranks share one address space.
struct world {
  explicit world(std::uint64_t seed);

  oracle truth;
  memories memory;
  std::uint32_t ranks;
  std::uint32_t phases;
  std::uint32_t messages_a_phase;  ///< that are left to be sent in this phase
  std::uint32_t messages_left = 0;
  std::uint32_t fan_out;  ///< most actions of one handler
  double charge_max;      ///< virtual seconds of one handler
  std::uint32_t destroy_percent, migrate_percent, shared_percent, coroutine_percent, memory_percent;
  std::vector<ending> endings;               ///< by phase
  std::vector<std::uint32_t> at_quiescence;  ///< by phase: who asks for a handler
  std::uint64_t handlers_at_quiescence = 0;  ///< that have run
  std::uint64_t handlers_expected = 0;

  [[nodiscard]] std::uint64_t key() const noexcept { return reinterpret_cast<std::uintptr_t>(this); }
  [[nodiscard]] static world& of(std::uint64_t key) noexcept { return *reinterpret_cast<world*>(key); }
};

/// A mobile object whose every exclusive handler changes its hash, so that a lost or doubled change shows.
struct cell {
  std::uint64_t home_world = 0;
  std::uint32_t name = 0;
  std::uint64_t hash = 0;
  std::vector<std::uint32_t> ballast;

  void poke(nacre::context& ctx, std::uint64_t id, std::vector<std::uint32_t> more);
  void prod(nacre::context& ctx, std::uint64_t id, std::span<const std::uint32_t> more);
  void peek(nacre::context& ctx, std::uint64_t id) const;
  std::uint64_t change(nacre::context& ctx, std::uint64_t id);
  std::uint64_t look(nacre::context& ctx, std::uint64_t id) const;
  nacre::task<std::uint64_t> walk(nacre::context& ctx, std::uint64_t id);
  nacre::task<std::uint64_t> watch(nacre::context& ctx, std::uint64_t id) const;

  /// Some objects stay where they are.
  [[nodiscard]] static bool refuses(std::uint32_t name) noexcept { return name % 8 == 3; }
  [[nodiscard]] bool may_migrate() const { return !refuses(name); }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(home_world, name, hash, ballast);
  }

 private:
  [[nodiscard]] world& in() const noexcept { return world::of(home_world); }
};

/// What every rank of the job runs.
void main_of_rank(nacre::runtime& rt, world& in);

}  // namespace campaign
