// SPDX-License-Identifier: Apache-2.0
// Reasons that end a job, or its start.
#pragma once

#include <optional>
#include <string>

#include <nacre/error.hpp>
#include <nacre/ids.hpp>

namespace nacre::launch {

/// A reason that ends the job: a peer that ended without a shutdown, a link that broke, or a launcher that gave up.
struct failure {
  std::optional<rank_id> peer;  ///< none: the launcher is gone, or it ends the job for a reason of its own
  std::string reason;           ///< a clause about it: "closed its connection without a shutdown"
  bool announced = false;       ///< the launcher prints the line for the whole job, so that this rank keeps silent
};

/// One line for the user: "rank 2 was killed by signal 9 (Killed)".
[[nodiscard]] std::string describe(const failure& failure);

/// The launcher ended the job while this rank was still joining it. The launcher has printed the reason, so the code
/// that catches this ends the process with an error and without a line.
class job_aborted : public setup_error {
 public:
  using setup_error::setup_error;
};

}  // namespace nacre::launch
