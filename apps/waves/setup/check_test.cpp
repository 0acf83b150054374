// SPDX-License-Identifier: Apache-2.0
// What is refused before anything is computed, and with which words.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nacre/error.hpp>

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
