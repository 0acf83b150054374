// SPDX-License-Identifier: Apache-2.0
// What is refused before anything is computed, and with which words.
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nacre/error.hpp>

#include "numerics/boundary_stencils.hpp"
#include "setup/description.hpp"

namespace waves {
namespace {

const isotropic soft = isotropic::of_speeds(2000, 1000, 2000), hard = isotropic::of_speeds(6000, 3000, 2600);

/// A box that can be computed.
description sound() {
  description asked;
  asked.h = 50;
  asked.time = 0.6;
  asked.size = {800, 800, 800};
  asked.layers = 0;
  asked.material.layers = {{0, soft}, {400, hard}};
  point_source source;
  source.place = {410, 420, 330};
  source.force = {0, 1e12, 0};
  source.time = {time_function::shape::gaussian, 0.4, 0.08};
  asked.sources = {source};
  asked.receivers = {{"a", {600, 420, 350}}};
  return asked;
}

/// The words that refuse it after a change; empty where they do not.
std::string refusal(const std::function<void(description&)>& change) {
  description asked = sound();
  change(asked);
  try {
    check(asked);
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

void expect_words(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << words << ": " << message;
}

TEST(check, takes_a_sound_description) {
  EXPECT_EQ(refusal([](description&) {}), "");
}

TEST(check, refuses_names_of_receivers_that_are_no_names_of_different_files) {
  const auto named = [](const std::string& first, const std::string& second) {
    return refusal([&](description& asked) {
      asked.receivers = {{first, {600, 420, 350}}, {second, {600, 420, 400}}};
    });
  };
  EXPECT_EQ(named("a", "b"), "");
  expect_words(named("a", "a"), "two receivers are called a");
  expect_words(named("a", "b/c"), "a receiver is called \"b/c\"");
  expect_words(named("", "b"), "a receiver is called \"\"");
}

TEST(check, refuses_blocks_that_are_no_boxes_or_not_in_the_grid) {
  const auto refused = [](const position& low, const position& high, int layers = 0) {
    return refusal([&](description& asked) {
      asked.layers = layers;
      asked.material.blocks = {{{100, 100, 0}, {200, 200, 100}, hard}, {low, high, hard}};
    });
  };
  constexpr double none = std::numeric_limits<double>::quiet_NaN(), far = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refused({300, 400, 0}, {500, 700, 150}), "");
  EXPECT_EQ(refused({-1e6, -1e6, -1e6}, {1e6, 1e6, 1e6}), "");
  EXPECT_EQ(refused({300, 400, 50}, {500, 700, 50}), "");      // one plane of points
  EXPECT_EQ(refused({820, 400, 50}, {900, 700, 50}, 16), "");  // in the layers that absorb
  expect_words(refused({none, 400, 0}, {500, 700, 150}), "block 2: low, x is nan");
  expect_words(refused({300, 400, 0}, {500, far, 150}), "block 2: high, y is inf");
  expect_words(refused({500, 400, 0}, {300, 700, 150}), "block 2 reaches from x = 500 to 300");
  expect_words(refused({300, 400, 0}, {500, 700, -50}), "exchange low and high");
  expect_words(refused({300, 820, 0}, {500, 900, 150}), "block 2 reaches from y = 820 to 900 (no point of the grid");
  expect_words(refused({300, 400, 810}, {500, 700, 850}), "no point of the grid");
  expect_words(refused({310, 400, 0}, {340, 700, 150}), "no point of the grid");  // between two planes
}

TEST(check, refuses_rasters_without_a_place_and_random_materials_that_would_not_count) {
  const auto refused = [](double low, double spacing, variation kind = variation::none) {
    return refusal([&](description& asked) {
      asked.material.points = {{1, 1, 2}, {low, 0, 0}, {1, spacing, 1}, {soft, hard}};
      asked.material.kind = kind;
    });
  };
  constexpr double none = std::numeric_limits<double>::quiet_NaN(), far = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refused(0, 1), "");
  expect_words(refused(none, 1), "raster: low is nan");
  expect_words(refused(0, far), "raster: spacing is inf");
  expect_words(refused(0, 1, variation::random), "[random] has material = true");
  const auto beside_block = [](description& asked) {
    asked.material.kind = variation::random;
    asked.material.blocks = {{{100, 100, 0}, {200, 200, 100}, hard}};
  };
  expect_words(refusal(beside_block), "[random] has material = true");
  EXPECT_EQ(refusal([](description& asked) { asked.material.kind = variation::random; }), "");
}

/// The words that refuse a force at a place of a grid; empty where its points bear all of it.
std::string placed(const position& place, top_side top, int layers) {
  description asked = sound();
  asked.sources[0].place = place;
  asked.top = top;
  asked.layers = layers;
  try {
    const problem result = make_problem(asked, best_kernels());
    double sum = 0;
    for (const source_point& each : result.sources[0].points) {
      sum += each.force[1] * 50 * 50 * 50 * (top == top_side::free_surface ? norm_weight(each.z) : 1);
    }
    EXPECT_NEAR(sum / 1e12, 1, 1e-12);
  } catch (const nacre::setup_error& error) {
    return error.what();
  }
  return "";
}

TEST(sources, bear_all_of_their_force_or_are_refused) {
  const auto free = top_side::free_surface, fixed = top_side::as_other_sides;
  EXPECT_EQ(placed({410, 420, 10}, free, 0), "");
  EXPECT_EQ(placed({410, 420, 0}, free, 0), "");
  EXPECT_EQ(placed({110, 110, 110}, fixed, 0), "");
  EXPECT_EQ(placed({0, 0, 0}, fixed, 0), "");  // one point alone
  EXPECT_EQ(placed({10, 790, 790}, fixed, 16), "");
  for (const position& place :
       {position{90, 420, 420}, position{420, 740, 420}, position{420, 420, 10}, position{420, 420, 790}}) {
    expect_words(placed(place, fixed, 0), "source 1 is too near to a side of the grid");
  }
}

TEST(check, refuses_harmonic_means_of_lambda_with_both_signs) {
  const auto change = [](description& asked) {
    asked.material.mean = interface_mean::harmonic;
    asked.material.layers[0].material = isotropic::of_speeds(2000, 1500, 2000);
  };
  expect_words(refusal(change), "take the interface thin_layer");
  EXPECT_EQ(refusal([&](description& asked) {
              change(asked);
              asked.material.mean = interface_mean::thin_layer;
            }),
            "");
}

}  // namespace
}  // namespace waves
