// SPDX-License-Identifier: Apache-2.0
// The command line.
#include "options.hpp"

#include <gtest/gtest.h>

#include <nacre/error.hpp>

namespace mesh2d {
namespace {

command_line parse(std::vector<const char*> words) {
  words.insert(words.begin(), "mesh2d");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

TEST(MeshOptions, sizes_are_read) {
  const command_line read = parse({"key", "--area", "0.5", "--size-at", "1,2,0.25", "--size-at", "-1,0,3,0"});
  ASSERT_FALSE(read.exit_code.has_value());
  EXPECT_EQ(read.asked.input, "key");
  EXPECT_EQ(read.asked.area_max, 0.5);
  ASSERT_EQ(read.asked.sources.size(), 2u);
  EXPECT_EQ(read.asked.sources[0].position, (point{1, 2}));
  EXPECT_EQ(read.asked.sources[0].length, 0.25);
  EXPECT_EQ(read.asked.sources[0].growth, 0.1);
  EXPECT_EQ(read.asked.sources[1].growth, 0);
}

TEST(MeshOptions, coasts_have_regions) {
  const command_line read = parse({"norway", "--region", "-10/5/50/60", "--keep", "land", "--projection", "laea"});
  ASSERT_FALSE(read.exit_code.has_value());
  EXPECT_EQ(read.asked.coast.region->west, -10);
  EXPECT_EQ(read.asked.coast.keep, kept_side::land);
  EXPECT_EQ(read.asked.coast.projected, projection_kind::laea);
  EXPECT_THROW(parse({"key", "--region", "0/1/0/1"}), nacre::setup_error);
  EXPECT_THROW(parse({"key", "--projection", "laea"}), nacre::setup_error);
  EXPECT_THROW(parse({"key", "--min-area", "5"}), nacre::setup_error);
  EXPECT_THROW(parse({"key", "--keep", "land"}), nacre::setup_error);
}

TEST(MeshOptions, pictures_have_a_width_and_colours) {
  const command_line read = parse({"key", "--width", "50", "--colour", "rank", "--out", "key.png"});
  ASSERT_FALSE(read.exit_code.has_value());
  EXPECT_EQ(read.asked.width, 50u);
  EXPECT_THROW(parse({"key", "--width", "50"}), nacre::setup_error);
  EXPECT_THROW(parse({"key", "--colour", "rank", "--out", "key.svg"}), nacre::setup_error);
}

TEST(MeshOptions, bad_values_are_refused) {
  for (const char* value : {"1,2", "1,2,0", "1,2,3,-1", "1,2,3,4,5", "a,2,3", "1,2,3,", ""}) {
    bool refused = false;
    try {
      refused = parse({"key", "--size-at", value}).exit_code == 2;
    } catch (const nacre::setup_error&) {
      refused = true;
    }
    EXPECT_TRUE(refused) << value;
  }
  EXPECT_THROW(parse({"key", "--area", "1", "--triangles", "5"}), nacre::setup_error);
  EXPECT_THROW(parse({"key", "--no-refine", "--size", "0.1"}), nacre::setup_error);
  EXPECT_THROW(parse({"key", "--no-refine", "--triangles", "5"}), nacre::setup_error);
  EXPECT_FALSE(parse({"key", "--no-refine", "--subdomains", "5"}).exit_code.has_value());
  EXPECT_EQ(parse({"key", "--angle", "50"}).exit_code, 2);
  EXPECT_EQ(parse({"--area", "1"}).exit_code, 2);
}

}  // namespace
}  // namespace mesh2d
