// SPDX-License-Identifier: Apache-2.0
// What a catch clause for everything has caught, in words.
#pragma once

#include <string>
#include <utility>

#include <nacre/error.hpp>

namespace nacre {

/// In a catch clause: the text of what is being handled, also when it is no std::exception.
[[nodiscard]] std::string text_of_thrown();

/// Runs `call`, which is code of the user that the runtime calls for its own purposes. What it throws has `name()` in
/// front of its text from here on. Costs nothing while nothing is thrown.
template <class Name, class Call>
decltype(auto) call_named(Name&& name, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    detail::throw_named(name());
  }
}

}  // namespace nacre
