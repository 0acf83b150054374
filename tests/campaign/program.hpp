// SPDX-License-Identifier: Apache-2.0
// The random program: objects that send, call, move and end each other, under the eyes of an oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "campaign/memory.hpp"
#include "campaign/oracle.hpp"

namespace campaign {

struct used_array;
struct contribution_record;

/// An array of the program: made in a phase, ended before another one, or behind the last.
struct array_plan {
  std::uint32_t begin, end;
  std::int64_t rows, columns;
  bool sparse;
  nacre::location_policy location;  ///< how its elements are found
};

/// How the mains of a phase find out that it is over.
enum class ending : std::uint8_t { barrier, quiescence, handler_checks, handler_goes_on };

/// One program, as drawn from a seed, and its oracle. Messages carry its address: all ranks share one address space.
struct world {
  /// `crowd_min`: what `crowd` is at least; 0: as the seed says.
  explicit world(std::uint64_t seed, std::uint32_t crowd_min = 0);
  ~world();

  oracle truth;
  memories memory;
  std::uint32_t ranks;
  std::uint32_t phases;
  std::uint32_t messages_a_phase;  ///< that are left to be sent in this phase
  std::uint32_t messages_left = 0;
  std::uint32_t fan_out;    ///< most actions of one handler
  std::uint32_t crowd = 0;  ///< messages that each main sends to one object in each phase, which is restless then
  double charge_max;        ///< virtual seconds of one handler
  std::uint32_t destroy_percent, migrate_percent, shared_percent, coroutine_percent, memory_percent;
  std::uint32_t array_percent, colocate_percent;
  bool quiet_before_end;      ///< or arrays end in the middle of everything
  bool newest_first = false;  ///< messages to ranks run in no order
  std::vector<array_plan> array_plans;
  std::deque<used_array> arrays;  ///< by plan, of those that have been made
  std::uint64_t array_messages = 0;
  std::unique_ptr<contribution_record> contributions;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint64_t>> places;  ///< which array, and which of its places
  std::vector<ending> endings;                                              ///< by phase
  std::vector<std::uint32_t> at_quiescence;                                 ///< by phase: who asks for a handler
  std::uint64_t handlers_at_quiescence = 0;                                 ///< that have run
  std::uint64_t handlers_expected = 0;

  /// Nothing may be pending now, and what has been promised has been kept.
  void must_be_quiet(const std::string& moment);
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

  // To all elements of an array; the results are counted.
  void hear(nacre::context& ctx, std::uint64_t number, std::uint32_t array);
  std::uint64_t heed(nacre::context& ctx, std::uint64_t number, std::uint32_t array) const;
  nacre::task<std::uint64_t> ponder(nacre::context& ctx, std::uint64_t number, std::uint32_t array);

  [[nodiscard]] bool may_migrate() const { return !oracle::refuses(name); }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(home_world, name, hash, ballast);
  }

 private:
  [[nodiscard]] world& in() const noexcept { return world::of(home_world); }
};

/// Of that name, with so much to carry.
[[nodiscard]] inline cell new_cell(const world& in, std::uint32_t name, std::size_t ballast) {
  return {in.key(), name, 0, std::vector<std::uint32_t>(ballast, name)};
}

/// One whose type says how it is to be found, whatever the program says.
template <nacre::location_policy P>
struct cell_found_by : cell {
  static constexpr auto location = P;
};

/// What every rank of the job runs.
void main_of_rank(nacre::runtime& rt, world& in);

}  // namespace campaign
