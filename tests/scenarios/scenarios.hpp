// SPDX-License-Identifier: Apache-2.0
// What a job does in a test: pieces of main that every rank runs, and that hold for any transport and number of ranks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::tests {

/// Every rank calls `run`; what it finds wrong, gtest tells. It leaves nothing under way and objects that nobody uses.
struct scenario {
  const char* title;  ///< a sentence with underscores
  void (*run)(runtime& rt, std::uint64_t seed);
  friend void PrintTo(const scenario& scenario, std::ostream* out) { *out << scenario.title; }
};

/// All of them, subject by subject; each subject is a file.
[[nodiscard]] std::span<const scenario> memory_scenarios();
[[nodiscard]] std::span<const scenario> withdrawal_scenarios();
[[nodiscard]] std::span<const scenario> collective_scenarios();
[[nodiscard]] std::span<const scenario> buffer_scenarios();
[[nodiscard]] std::span<const scenario> call_scenarios();
[[nodiscard]] std::span<const scenario> object_scenarios();
[[nodiscard]] std::span<const scenario> large_object_scenarios();
[[nodiscard]] std::span<const scenario> array_scenarios();
[[nodiscard]] std::span<const scenario> contribution_scenarios();
[[nodiscard]] std::span<const scenario> section_scenarios();
[[nodiscard]] std::span<const scenario> waiting_scenarios();
[[nodiscard]] std::span<const scenario> ending_scenarios();
[[nodiscard]] std::span<const scenario> quiescence_scenarios();
[[nodiscard]] std::span<const scenario> flood_scenarios();
[[nodiscard]] std::span<const scenario> flow_scenarios();
[[nodiscard]] std::span<const scenario> lock_scenarios();
[[nodiscard]] std::span<const scenario> colocation_scenarios();
[[nodiscard]] std::span<const scenario> time_scenarios();
[[nodiscard]] std::span<const scenario> lambda_scenarios();
[[nodiscard]] std::span<const scenario> group_scenarios();
[[nodiscard]] std::span<const scenario> group_message_scenarios();
[[nodiscard]] std::span<const scenario> container_scenarios();
[[nodiscard]] std::span<const scenario> counting_set_scenarios();
[[nodiscard]] std::span<const scenario> keyed_scenarios();
[[nodiscard]] std::span<const scenario> short_message_scenarios();
[[nodiscard]] std::span<const scenario> cancellation_scenarios();
inline constexpr std::array subjects{
    memory_scenarios,      withdrawal_scenarios,    collective_scenarios,   buffer_scenarios,  call_scenarios,
    object_scenarios,      large_object_scenarios,  lock_scenarios,         array_scenarios,   quiescence_scenarios,
    flood_scenarios,       flow_scenarios,          colocation_scenarios,   time_scenarios,    lambda_scenarios,
    group_scenarios,       contribution_scenarios,  section_scenarios,      waiting_scenarios, container_scenarios,
    keyed_scenarios,       short_message_scenarios, counting_set_scenarios, ending_scenarios,  group_message_scenarios,
    cancellation_scenarios};

/// Collective: objects of so many bytes, two of each rank, move from rank to rank while all send to them.
void move_large_objects(runtime& rt, std::uint64_t bytes);

/// Collectives with values of a type that is packed and an operation that is not commutative.
void all_collectives(runtime& rt, std::uint64_t seed);

/// Sends a chain of messages round the ranks, each of which sees `chain_visits` of all chains, and leaves it under way.
inline constexpr std::uint64_t chain_visits = 201;
void start_chain(runtime& rt);

/// Makes calls to the next rank whose futures nobody keeps, and leaves them under way.
void drop_futures(runtime& rt);

/// What handlers leave for the main of the rank on which they ran. Ranks may share a process, so each has its own.
struct board {
  std::atomic<std::uint64_t> seen{0};
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::uint64_t> reported{0};
  std::atomic<std::uint64_t> failed{0};
};
[[nodiscard]] board& board_of(rank_id rank);

/// Collective: the own board, empty; no rank goes on before all are.
board& fresh_board(runtime& rt);

/// Collective: the sum of all boards' fields, which must be at rest.
[[nodiscard]] std::uint64_t total(runtime& rt, std::atomic<std::uint64_t> board::*field);

/// Places in the order in which reductions combine the values of their elements: home by home.
template <class Array>
[[nodiscard]] std::vector<index> by_home(const operations& ops, const Array& subject, std::vector<index> places) {
  std::stable_sort(places.begin(), places.end(), [&](const index& a, const index& b) {
    const rank_id home_of_a = ops.home_of(subject[a]), home_of_b = ops.home_of(subject[b]);
    if (home_of_a != home_of_b) return home_of_a < home_of_b;
    return subject.shape().number_of(a) < subject.shape().number_of(b);
  });
  return places;
}
/// All places of an array in that order.
template <class Array>
[[nodiscard]] std::vector<index> by_home(const operations& ops, const Array& subject) {
  std::vector<index> all;
  for (std::uint64_t number = 0; number < subject.shape().count(); ++number)
    all.push_back(subject.shape().place_of(number));
  return by_home(ops, subject, std::move(all));
}

[[nodiscard]] inline rank_id next_of(const operations& ops) { return rank_id((ops.rank().value() + 1) % ops.size()); }

}  // namespace nacre::tests
