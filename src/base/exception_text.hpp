// SPDX-License-Identifier: Apache-2.0
// The text of the exception that a catch (...) clause handles.
#pragma once

#include <string>
#include <utility>

#include <nacre/error.hpp>

namespace nacre {

/// Called in a catch clause: returns the text of the exception being handled, also when it is no std::exception.
[[nodiscard]] std::string text_of_thrown();

/// The text, but for its middle where it is longer than 4,096 bytes: an error that thousands of handlers have let
/// through names the outermost of them, and the cause.
[[nodiscard]] std::string without_middle(std::string text);

/// Runs `call`, code of the user that the runtime calls for its own purposes. Puts `name()` in front of the text of any
/// exception that `call` throws. Costs nothing while nothing is thrown.
template <class Name, class Call>
decltype(auto) call_named(Name&& name, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    detail::throw_named(name());
  }
}

}  // namespace nacre
