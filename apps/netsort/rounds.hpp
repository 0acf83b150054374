// SPDX-License-Identifier: Apache-2.0
// Places the wires, runs the rounds, measures and checks them.
#pragma once

#include <cstdint>
#include <vector>

#include <nacre/nacre.hpp>

#include "options.hpp"

namespace netsort {

/// What one phase took; sums over all ranks.
struct phase_report {
  double seconds = 0;          ///< virtual ones under simulation
  std::uint64_t messages = 0;  ///< that the program sent to its wires
  std::uint64_t hops = 0;      ///< their ways from one rank to another
  std::uint64_t forwards = 0;  ///< hops from a rank that the wire had already left
  std::uint64_t updates = 0;   ///< messages that told of a wire's place
  std::uint64_t migrations = 0;

  [[nodiscard]] double hops_a_message() const noexcept {
    return messages == 0 ? 0 : static_cast<double>(hops) / static_cast<double>(messages);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, messages, hops, forwards, updates, migrations);
  }
};

struct sort_report {
  phase_report placing;              ///< until every wire is where it is to begin
  std::vector<phase_report> rounds;  ///< one for each repetition
  bool sorted = true;                ///< every round gave exactly the keys that it began with, in order
  template <class Archive>
  void serialize(Archive& ar) {
    ar(placing, rounds, sorted);
  }
};

/// Creates the wires, sorts `asked.repetitions` times and checks each result. Collective; the report is complete on
/// rank 0. A job that goes on from an image counts and measures what it has done itself.
[[nodiscard]] sort_report sort_by_network(nacre::runtime& rt, const options& asked);

}  // namespace netsort
