// SPDX-License-Identifier: Apache-2.0
// A whole run: bodies, steps, what is printed and written.
#pragma once

#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "options.hpp"
#include "output/report.hpp"

namespace nbody {

struct job_result {
  std::string problem{};  ///< what is wrong with the options or the bodies, on every rank; empty: nothing
  result outcome{};       ///< on rank 0
  std::vector<std::string> unwritten{};  ///< on rank 0: why outputs could not be written
};

/// Collective. Goes on from an image, where the runtime has restored one.
[[nodiscard]] job_result run_job(nacre::runtime& rt, const options& asked, bool simulated);

}  // namespace nbody
