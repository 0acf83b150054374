// SPDX-License-Identifier: Apache-2.0
// What --nacre.record_load writes of the work of objects, on threads.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

constexpr double charged_seconds = 1e4;  // more than any of these jobs can take

struct recorded_row {
  std::uint32_t interval = 0, rank = 0;
  std::uint64_t object = 0;
  double seconds = 0;
  std::uint32_t messages = 0;
  std::uint64_t bytes = 0;
};

struct recording {
  std::string head;
  std::vector<recorded_row> rows;
  bool is_complete = false;

  [[nodiscard]] double seconds() const {
    double sum = 0;
    for (const recorded_row& each : rows) sum += each.seconds;
    return sum;
  }
};

recording read_recording(const std::string& path) {
  recording result;
  std::ifstream file(path);
  std::getline(file, result.head);
  for (std::string line; std::getline(file, line);) {
    result.is_complete = line == "end " + std::to_string(result.rows.size());
    std::istringstream words(line);
    recorded_row row;
    if (words >> row.interval >> row.rank >> row.object >> row.seconds >> row.messages >> row.bytes)
      result.rows.push_back(row);
  }
  return result;
}

/// The recording of a job of these options, on threads unless they say otherwise; the job must succeed.
recording recording_of(const settings& options, const std::function<void(runtime&)>& main) {
  const std::string path = testing::TempDir() + "nacre_load_recording" + std::to_string(getpid());
  config configuration;
  configuration.set("transport", "inproc");
  configuration.set("workers", "1");
  configuration.set("record_load", path);
  for (const auto& [name, value] : options) configuration.set(name, value);
  EXPECT_EQ(run(configuration, main), 0);
  recording result = read_recording(path);
  EXPECT_TRUE(result.is_complete);
  std::remove(path.c_str());
  return result;
}

void charge_on_rank(context& ctx) { ctx.charge(charged_seconds); }
int charge_and_answer(context& ctx) {
  ctx.charge(charged_seconds);
  return 1;
}
task<int> charge_twice(context& ctx) {
  ctx.charge(charged_seconds);
  co_await ctx.call<charge_and_answer>(ctx.rank());
  ctx.charge(charged_seconds);
  co_return 1;
}

TEST(load_recording, of_an_object_has_nothing_of_what_others_have_charged) {
  const recording got = recording_of({{"ranks", "1"}}, [](runtime& rt) {
    const auto object = rt.create<plain>(0.0);
    map<int, int> table(rt);
    for (int round = 0; round < 40; ++round) {  // some steps and parts are measured, others are not
      rt.send<charge_on_rank>(rt.rank());
      rt.send<&plain::run>(object);
      static_cast<void>(rt.call<charge_twice>(rt.rank()).get());
      rt.send<&plain::run>(object);
      table.visit(round, [](context& ctx, const int&, int&) { ctx.charge(charged_seconds); });
      rt.wait_quiescence();
      static_cast<void>(rt.call<&plain::run>(object).get());
    }
  });
  ASSERT_FALSE(got.rows.empty());
  EXPECT_LT(got.seconds(), charged_seconds / 2);
}

}  // namespace
}  // namespace nacre::tests
