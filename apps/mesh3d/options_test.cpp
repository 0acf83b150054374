// SPDX-License-Identifier: Apache-2.0
// The command line.
#include "options.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

namespace mesh3d {
namespace {

command_line parse(std::vector<const char*> words) {
  words.insert(words.begin(), "mesh3d");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

TEST(Mesh3dOptions, of_a_surface_are_refused_without_one) {
  for (const auto& [name, value] : {std::pair{"--keep", "outside"},
                                    {"--margin", "0.2"},
                                    {"--surface-size", "0.1"},
                                    {"--curvature", "12"},
                                    {"--growth", "0.1"}}) {
    EXPECT_THROW(parse({"--size", "0.2", name, value}), nacre::setup_error) << name;
    EXPECT_FALSE(parse({"sphere", "--size", "0.2", name, value}).exit_code.has_value()) << name;
  }
  EXPECT_FALSE(parse({"--size", "0.2"}).exit_code.has_value());
}

}  // namespace
}  // namespace mesh3d
