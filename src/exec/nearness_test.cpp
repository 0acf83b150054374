// SPDX-License-Identifier: Apache-2.0
// Distances between the processors of synthetic hosts.
#include "exec/nearness.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace nacre {
namespace {

/// Reads the topology of a synthetic host from hwloc.
std::shared_ptr<const nearness> imagined(const char* host) {
  ::setenv("HWLOC_SYNTHETIC", host, 1);
  std::shared_ptr<const nearness> known = nearness::look_at_host();
  ::unsetenv("HWLOC_SYNTHETIC");
  return known;
}

TEST(nearness, is_read_from_the_topology_of_the_host) {
  const auto known = imagined("pack:2 l2:2 core:1 pu:2");
  ASSERT_NE(known, nullptr);
  for (std::uint32_t a = 0; a < 8; ++a) {
    for (std::uint32_t b = 0; b < 8; ++b) {
      EXPECT_EQ(known->between(a, b), a / 2 == b / 2 ? 0 : a / 4 == b / 4 ? 1 : 2) << a << " " << b;
    }
  }
  EXPECT_EQ(known->between(3, 8), 2) << "one that was not there";
  EXPECT_EQ(imagined("core:4 pu:1"), nullptr) << "all are equally near";
}

}  // namespace
}  // namespace nacre
