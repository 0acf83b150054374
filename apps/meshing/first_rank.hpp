// SPDX-License-Identifier: Apache-2.0
// What the mesh programs do on rank 0 before all ranks begin.
#pragma once

#include <string>

#include <nacre/nacre.hpp>

namespace meshing {

/// Calls `prepare` on rank 0 alone. Returns the text of its setup_error on every rank; empty if it has not thrown one.
/// Collective.
template <class Prepare>
[[nodiscard]] std::string problem_on_first_rank(nacre::runtime& rt, Prepare prepare) {
  std::string problem;
  if (rt.rank().value() == 0) {
    try {
      prepare();
    } catch (const nacre::setup_error& error) {
      problem = error.what();
    }
  }
  return rt.broadcast(problem, nacre::rank_id{0});
}

}  // namespace meshing
