// SPDX-License-Identifier: Apache-2.0
// Contributions in the random program: elements that wait for each other, give values, move and end.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>

#include "campaign/program.hpp"

namespace campaign {

/// The world, and how many elements have given a value.
using given = std::pair<std::uint64_t, std::uint64_t>;
struct add_given {
  given operator()(const given& one, const given& other) const { return {one.first, one.second + other.second}; }
};

/// An element of the array. Those of every third place pass a token on to the next of them in each step, and wait for
/// theirs; those of the place behind may be ended at any time.
struct giver {
  std::uint64_t home_world = 0;
  std::uint64_t steps = 0;

  nacre::awaited<std::uint64_t> token(std::uint64_t, std::uint64_t source) { return source; }
  nacre::task<void> give(nacre::context& ctx, std::uint64_t step);

  template <class Archive>
  void serialize(Archive& ar) {
    ar(home_world, steps);
  }
};

/// What a world knows of its steps.
struct contribution_record {
  explicit contribution_record(std::uint64_t seed);
  nacre::rng random;
  bool used;             ///< in this world
  std::uint64_t places;  ///< of the array
  nacre::array_ptr<giver> all{};
  std::uint64_t begun = 0;                                           ///< steps
  std::map<std::uint64_t, std::uint64_t> given_values{}, results{};  ///< by step
  std::set<std::uint64_t> ended{};                                   ///< places
};

/// Collective: makes the array in the first phase; each main may begin steps, and end elements.
void contribute_in_main(world& in, nacre::runtime& rt, std::uint32_t phase);
/// Collective, when all is quiet.
void end_contributions(world& in, nacre::runtime& rt);
/// All steps that have begun are over, and each result counts all who gave.
void contributions_must_be_quiet(world& in, const std::string& moment);

}  // namespace campaign
