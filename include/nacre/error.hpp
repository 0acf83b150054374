// SPDX-License-Identifier: Apache-2.0
// The exceptions for bad input or a bad environment while a job is set up, and for misuse of the interface.
#pragma once

#include <stdexcept>
#include <string>

namespace nacre {

/// A problem outside the program keeps the job from starting. The text is one line for a person, of the form
/// "problem (why it matters): remedy". `run` prints it and returns non-zero.
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

/// Misuse of the interface that shows only at run time, such as a blocking wait inside a handler. The call that throws
/// it has had no effect: the caller may catch it and go on.
class usage_error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {
/// A value that no archive can pack, such as one that nests too deeply. The text names its class.
class unpackable_value : public usage_error {
 public:
  using usage_error::usage_error;
};

/// In a catch clause: rethrows an exception of the user's code with the name of the function in front of its text. An
/// exception that has such a name already is rethrown unchanged, and so is a lack of memory. An unpackable_value keeps
/// its type.
[[noreturn]] void throw_named(const std::string& function);
}  // namespace detail

}  // namespace nacre
