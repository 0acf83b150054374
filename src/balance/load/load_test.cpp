// SPDX-License-Identifier: Apache-2.0
// Load models: the load by each, names, and the time assumed for messages of objects that have run none yet.
#include "balance/load/load.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <nacre/error.hpp>
#include <nacre/rng.hpp>

namespace nacre::balance {
namespace {

constexpr load_facts known{.declared = 7, .message_seconds = 0.5, .messages = 3};
constexpr load_facts silent{.message_seconds = 0.5, .messages = 3};

double load_by(const char* name, const load_facts& load_facts) {
  return make_load_model(name, config{})->load(load_facts);
}

std::string refusal_of_model(const char* name) {
  try {
    static_cast<void>(make_load_model(name, config{}));
  } catch (const setup_error& error) {
    return error.what();
  }
  return "";
}

TEST(load_model, each_counts_what_it_says) {
  EXPECT_EQ(load_by("declared", known), 7);
  EXPECT_EQ(load_by("declared", silent), 1.5);
  EXPECT_EQ(load_by("measured", known), 1.5);
  EXPECT_EQ(load_by("messages", known), 3);
}

struct twice_declared final : load_model {
  [[nodiscard]] double load(const load_facts& load_facts) const override { return 2 * load_facts.declared; }
};

TEST(load_model, a_program_adds_its_own_and_a_wrong_name_or_none_is_refused) {
  register_load_model("twice_of_the_test", [](const config&) { return std::make_unique<twice_declared>(); });
  EXPECT_EQ(load_by("twice_of_the_test", known), 14);
  EXPECT_EQ(refusal_of_model("mesured").find("there is no balance.load 'mesured'"), 0u);
  EXPECT_NE(refusal_of_model("mesured").find("did you mean measured?"), std::string::npos);
  register_load_model("none_of_the_test", [](const config&) { return nullptr; });
  EXPECT_NE(refusal_of_model("none_of_the_test").find("is null"), std::string::npos);
}

TEST(usual_message, is_the_average_over_the_waiting_messages_of_measured_objects) {
  EXPECT_EQ(usual_message_seconds({}), 0);
  EXPECT_EQ(usual_message_seconds(std::vector<load_facts>{{.messages = 9}, {.declared = 4, .messages = 1}}), 0);
  EXPECT_EQ(usual_message_seconds(std::vector<load_facts>{{.message_seconds = 5, .messages = 0}}), 0);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    rng random(seed);
    std::vector<load_facts> all(1 + random.below(6));
    std::vector<double> every_message;
    for (load_facts& each : all) {
      each.messages = static_cast<std::uint32_t>(random.below(4));
      if (random.below(3) == 0) continue;  // has run nothing yet
      each.message_seconds = 1e-3 * (1 + random.uniform());
      every_message.insert(every_message.end(), each.messages, each.message_seconds);
    }
    double sum = 0;
    for (const double each : every_message) sum += each;
    const double expected = every_message.empty() ? 0.0 : sum / static_cast<double>(every_message.size());
    EXPECT_DOUBLE_EQ(usual_message_seconds(all), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace nacre::balance
