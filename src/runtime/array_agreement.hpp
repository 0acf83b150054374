// SPDX-License-Identifier: Apache-2.0
// The collective step in which the ranks agree on an array that they make or end.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/engine.hpp"

namespace nacre::detail {

/// One rank's part in making or ending an array; all ranks get the combination of all parts.
struct array_step {
  std::string call;
  std::string failure{};       ///< the first one, by rank; empty: none
  std::uint64_t elements = 0;  ///< elements
  template <class Archive>
  void serialize(Archive& ar) {
    ar(call, failure, elements);
  }
};

/// Collective: all ranks pass an equal `call`; otherwise the job ends with a line that has two different ones.
[[nodiscard]] array_step agree_on_array(engine& core, thread_context& thread, const array_step& step);

/// Collective: ends all elements, and releases the array's memory.
void end_array(engine& core, thread_context& thread, std::uint64_t first);

}  // namespace nacre::detail
