// SPDX-License-Identifier: Apache-2.0
// Which problems are the same, so that a job may go on from an image of one of them.
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <nacre/error.hpp>

#include "parallel/conditions.hpp"
#include "setup/description.hpp"

namespace waves {
namespace {

const isotropic soft_rock = isotropic::of_speeds(2000, 1000, 2000), hard_rock = isotropic::of_speeds(6000, 3000, 2600);

description with_raster() {
  description asked;
  asked.h = 50;
  asked.time = 0.1;
  asked.size = {800, 800, 800};
  asked.layers = 0;
  asked.material.points = {{2, 2, 1}, {0, 0, 0}, {400, 400, 400}, {soft_rock, soft_rock, hard_rock, hard_rock}};
  point_source source;
  source.place = {410, 420, 330};
  source.moment = {1e15, 0, -1e15, 5e14, 0, 2e14};
  asked.sources = {source};
  asked.receivers = {{"a", {600, 420, 350}}};
  return asked;
}

/// The words that refuse to go on after a change; empty where they do not.
std::string difference(const std::function<void(description&)>& change) {
  description changed = with_raster();
  change(changed);
  try {
    demand_same(conditions_of(make_problem(with_raster(), best_kernels())),
                conditions_of(make_problem(changed, best_kernels())));
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

void expect_named(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << words << ": " << message;
}

TEST(conditions, are_those_of_the_same_problem_alone) {
  EXPECT_EQ(difference([](description&) {}), "");
  expect_named(difference([](description& asked) {
                 asked.material.points.materials = {hard_rock, hard_rock, soft_rock, soft_rock};
               }),
               "the digest of the raster's materials");
  expect_named(difference([](description& asked) {
                 asked.material.points.count = {4, 1, 1};
               }),
               "the raster's number of points along x is 2, and in this job");
  expect_named(difference([](description& asked) { asked.sources[0].moment[3] = 4e14; }), "digest of its points");
  expect_named(difference([](description& asked) { asked.sources[0].place[2] = 331; }), "source 1: at, z is 330");
}

}  // namespace
}  // namespace waves
