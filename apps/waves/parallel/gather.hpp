// SPDX-License-Identifier: Apache-2.0
// Brings results of patches to rank 0, in an order that does not depend on the cut.
#pragma once

#include <cstdint>
#include <vector>

#include <nacre/nacre.hpp>

#include "parallel/simulation.hpp"

namespace waves {

/// All of these are called on rank 0, when no step is under way.
class gatherer {
 public:
  gatherer(nacre::runtime& rt, patch::array patches, const cut& cut, const problem& problem)
      : rt_(rt), patches_(patches), cut_(cut), problem_(problem) {}

  [[nodiscard]] double energy();
  /// The L2 norm of the error over that of the solution.
  [[nodiscard]] double relative_error();
  [[nodiscard]] std::vector<seismogram> motions();
  [[nodiscard]] plane_points plane(char axis, double metres);
  [[nodiscard]] std::uint64_t digest();
  [[nodiscard]] double bytes_per_point();

 private:
  /// Asks all patches at once whose boxes are wanted, and calls take(box, answer) in their order.
  template <auto Ask, class Wanted, class Take, class... Args>
  void ask(Wanted&& wanted, Take&& take, const Args&... args);
  /// Calls put(z, y, value) for what patches give for each of their rows.
  template <auto Ask, class Put>
  void for_each_row(Put&& put);

  nacre::runtime& rt_;
  patch::array patches_;
  cut cut_;
  const problem& problem_;
};

}  // namespace waves
