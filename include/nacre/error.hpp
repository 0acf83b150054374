// SPDX-License-Identifier: Apache-2.0
// The exception for bad input or a bad environment, thrown while a job is set up and never afterwards.
#pragma once

#include <stdexcept>
#include <string>

namespace nacre {

/// Something outside the program keeps the job from starting. Its text is one line for a person, of the form
/// "problem (why it matters): what to try". `run` prints it and returns non-zero.
class setup_error : public std::runtime_error {
 public:
  /// The three parts of the line, without the punctuation between them.
  struct parts {
    std::string problem;
    std::string why;
    std::string remedy;
  };

  explicit setup_error(const std::string& line) : std::runtime_error(line) {}
  explicit setup_error(const parts& text) : std::runtime_error(text.problem + " (" + text.why + "): " + text.remedy) {}
};

}  // namespace nacre
