// SPDX-License-Identifier: Apache-2.0
// Balancers by name: built-in ones, the program's own, and names that do not exist.
#include "balance/balancer/registry.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <nacre/error.hpp>

namespace nacre {
namespace {

config defaults() { return config{{"balance", balance_options()}}; }

std::string refusal_of_balancer(std::string_view name, const config& configuration) {
  try {
    static_cast<void>(make_balancer(name, configuration));
  } catch (const setup_error& error) {
    return error.what();
  }
  return "";
}

class own_balancer final : public balancer {};

TEST(balancer_registry, the_built_in_ones_can_be_made_from_the_defaults) {
  const config configuration = defaults();
  EXPECT_NE(make_balancer("steal", configuration), nullptr);
  EXPECT_NE(make_balancer("diffusion", configuration), nullptr);
  EXPECT_EQ(make_balancer("none", configuration), nullptr) << "no balancer at all: no tick, no message";
}

TEST(balancer_registry, a_misspelt_name_is_answered_with_the_right_one) {
  EXPECT_EQ(refusal_of_balancer("difusion", defaults()).find("there is no balancer 'difusion'"), 0u);
  EXPECT_NE(refusal_of_balancer("difusion", defaults()).find("did you mean diffusion?"), std::string::npos);
}

TEST(balancer_registry, a_program_adds_its_own_which_sees_the_configuration) {
  std::string seen;
  register_balancer("own_of_the_test", [&](const config& configuration) {
    seen = configuration.get_string("balancer");
    return std::make_unique<own_balancer>();
  });
  config configuration = defaults();
  configuration.set("balancer", "own_of_the_test");
  const std::unique_ptr<balancer> result = make_balancer(configuration.get_string("balancer"), configuration);
  EXPECT_NE(dynamic_cast<own_balancer*>(result.get()), nullptr);
  EXPECT_EQ(seen, "own_of_the_test");
  EXPECT_NE(refusal_of_balancer("own_of_the_tset", configuration).find("did you mean own_of_the_test?"),
            std::string::npos);
}

TEST(balancer_registry, one_of_the_programs_own_that_is_null_is_refused) {
  register_balancer("null_of_the_test", [](const config&) { return std::unique_ptr<balancer>(); });
  EXPECT_EQ(refusal_of_balancer("null_of_the_test", defaults()).find("the balancer 'null_of_the_test' is null"), 0u);
}

TEST(balancer_registry, a_back_off_that_shrinks_is_refused) {
  for (const char* policy : {"steal", "diffusion"}) {
    config configuration = defaults();
    configuration.set("balance.steal.backoff_max", "10us");
    configuration.set("balance.diffusion.interval_max", "10us");
    EXPECT_NE(refusal_of_balancer(policy, configuration).find("is longer than"), std::string::npos) << policy;
  }
}

}  // namespace
}  // namespace nacre
