// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the bytes choose forged messages to a rank, or are the input of a launcher and its agents.
#include "forgery/forged_messages.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nacre::forgery::forge({data, size});
  return 0;
}
