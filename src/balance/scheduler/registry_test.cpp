// SPDX-License-Identifier: Apache-2.0
// Schedulers by name: the program's own, and names that do not exist.
#include "balance/scheduler/registry.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <nacre/error.hpp>

namespace nacre {
namespace {

std::string refusal_of_scheduler(std::string_view name) {
  try {
    static_cast<void>(make_scheduler(name, config{{"scheduler", scheduler_options()}}, {}));
  } catch (const setup_error& error) {
    return error.what();
  }
  return "";
}

class own_scheduler final : public scheduler {
 public:
  void push(worker_id, work&) override {}
  [[nodiscard]] work* pop(worker_id) override { return nullptr; }
};

TEST(scheduler_registry, a_misspelt_name_is_answered_with_the_right_one) {
  EXPECT_EQ(refusal_of_scheduler("liffo").find("there is no scheduler 'liffo'"), 0u);
  EXPECT_NE(refusal_of_scheduler("liffo").find("did you mean lifo?"), std::string::npos);
}

TEST(scheduler_registry, a_program_adds_its_own_which_sees_its_place) {
  scheduler_site seen;
  register_scheduler("own_of_the_test", [&](const config&, const scheduler_site& site) {
    seen = site;
    return std::make_unique<own_scheduler>();
  });
  const std::unique_ptr<scheduler> result =
      make_scheduler("own_of_the_test", config{{"scheduler", scheduler_options()}}, {.rank = rank_id(3), .workers = 7});
  EXPECT_NE(dynamic_cast<own_scheduler*>(result.get()), nullptr);
  EXPECT_EQ(seen.rank, rank_id(3));
  EXPECT_EQ(seen.workers, 7u);
}

TEST(scheduler_registry, a_factory_may_take_the_configuration_only) {
  register_scheduler("plain_of_the_test", [](const config&) { return std::make_unique<own_scheduler>(); });
  const std::unique_ptr<scheduler> result =
      make_scheduler("plain_of_the_test", config{{"scheduler", scheduler_options()}}, {});
  EXPECT_NE(dynamic_cast<own_scheduler*>(result.get()), nullptr);
}

TEST(scheduler_registry, a_factory_that_gives_none_is_refused) {
  register_scheduler("none_of_the_test", [](const config&, const scheduler_site&) { return nullptr; });
  EXPECT_NE(refusal_of_scheduler("none_of_the_test").find("is null"), std::string::npos);
}

}  // namespace
}  // namespace nacre
