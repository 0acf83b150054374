// SPDX-License-Identifier: Apache-2.0
// The summary of a run accounts for all of its time.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <nacre/nacre.hpp>

namespace {

constexpr int handlers = 1000;
constexpr double seconds_a_handler = 1e-6;

struct busy {
  int left = handlers;
  void go_on(nacre::context& ctx) {
    ctx.charge(seconds_a_handler);
    if (--left > 0) ctx.send<&busy::go_on>(ctx.self<busy>());
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(left);
  }
};

nlohmann::json summary_of_run() {
  const std::string path = testing::TempDir() + "nacre_summary_test.json";
  nacre::config how;
  how.set("transport", "sim");
  how.set("ranks", "2");
  how.set("summary_json", path);
  const int code = nacre::run(how, [](nacre::runtime& rt) {
    if (rt.rank().value() == 0) rt.send<&busy::go_on>(rt.create<busy>());
  });
  EXPECT_EQ(code, 0);
  std::ifstream file(path);
  const auto read = nlohmann::json::parse(file);
  std::remove(path.c_str());
  return read;
}

TEST(summary, handlers_runtime_and_idling_of_a_simulated_worker_add_up_to_the_run) {
  const nlohmann::json all = summary_of_run();
  const double seconds = all["seconds"];
  ASSERT_EQ(all["workers"].size(), 2U);
  for (const auto& row : all["workers"]) {
    const double handler = row["handler_seconds"], runtime = row["runtime_seconds"], idle = row["idle_seconds"];
    EXPECT_NEAR(handler + runtime + idle, seconds, 0.03 * seconds) << row;
  }
  EXPECT_NEAR(all["workers"][0]["handler_seconds"], handlers * seconds_a_handler, 0.1 * handlers * seconds_a_handler);
  EXPECT_GT(all["workers"][1]["idle_seconds"], 0.9 * seconds);
}

}  // namespace
