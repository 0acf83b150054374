// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the bytes decide what forgers send to a rank, or are what a launcher and its agents read.
#include "tool/forged_messages_test_kit.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nacre::forgery::forge({data, size});
  return 0;
}
