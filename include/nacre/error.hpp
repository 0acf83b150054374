// SPDX-License-Identifier: Apache-2.0
// The exceptions for bad input or a bad environment, thrown while a job is set up, and for misuse of the interface.
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

/// Misuse of the interface that only the run can show, such as a blocking wait inside a handler. Nothing has happened
/// when it is thrown: the caller may catch it and go on.
class usage_error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {
/// In a catch clause: passes on what the user's code has thrown, with the name of the function in front of its text.
/// What has a name already, and a want of memory, pass as they are.
[[noreturn]] void throw_named(const std::string& function);
}  // namespace detail

}  // namespace nacre
