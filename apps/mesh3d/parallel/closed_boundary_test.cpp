// SPDX-License-Identifier: Apache-2.0
// Smooth surfaces that cross many faces of subdomains: each edge of the boundary has two triangles.
#include <gtest/gtest.h>

#include "parallel/job_for_tests.hpp"

namespace mesh3d {
namespace {

void expect_closed(const options& asked) {
  const outcome first = run_job({{"ranks", "1"}, {"workers", "2"}}, asked), other = run_job({{"ranks", "3"}}, asked);
  EXPECT_EQ(first.done.verdict.faults, 0u)
      << (first.done.verdict.fault_texts.empty() ? "" : first.done.verdict.fault_texts.front());
  EXPECT_EQ(first.done.verdict.surface.counts.edges_not_of_two, 0u);
  EXPECT_EQ(first.mesh.points, other.mesh.points);
  EXPECT_EQ(first.mesh.tetrahedra, other.mesh.tetrahedra);
  EXPECT_EQ(first.mesh.inner, other.mesh.inner);
}

TEST(ClosedBoundary, of_the_torus_with_options_as_they_are) { expect_closed({.input = "torus", .check = true}); }

TEST(ClosedBoundary, of_a_shell_in_many_subdomains) {
  expect_closed({.input = "shell", .subdomains = 40, .check = true});
}

}  // namespace
}  // namespace mesh3d
