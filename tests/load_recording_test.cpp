// SPDX-License-Identifier: Apache-2.0
// What --nacre.record_load writes of the work of objects, on threads.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

#include "small_jobs.hpp"

namespace nacre::tests {
namespace {

constexpr double seconds_of_step = 4e-3;
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

TEST(load_recording, a_charge_that_is_no_time_is_bounded) {
  constexpr double most = 1e6;
  for (const double charge : {std::numeric_limits<double>::infinity(), 1e300, std::nan(""), -1.0}) {
    const recording got = recording_of({{"ranks", "1"}}, [charge](runtime& rt) {
      const auto object = rt.create<plain>(charge);
      for (int n = 0; n < 3; ++n) static_cast<void>(rt.call<&plain::run>(object).get());
    });
    EXPECT_LT(got.seconds(), 3 * most + charged_seconds);
    EXPECT_GE(got.seconds(), charge > 0 ? 3 * most : 0);
  }
}

struct link {
  int value = 0;
  std::unique_ptr<link> next{};
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value, next);
  }
};

/// Nests deeper than an archive goes.
struct chain {
  std::unique_ptr<link> first{};
  void grow(int count) {
    for (int n = 0; n < count; ++n) {
      auto added = std::make_unique<link>();
      added->next = std::move(first);
      first = std::move(added);
    }
  }
  ~chain() {
    while (first != nullptr) first = std::move(first->next);
  }
  chain() = default;
  chain(chain&&) = default;
  chain& operator=(chain&&) = default;
  chain(const chain&) = delete;
  chain& operator=(const chain&) = delete;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(first);
  }
};

TEST(load_recording, of_an_object_that_cannot_be_packed_has_no_size_for_it) {
  const recording got = recording_of({{"ranks", "1"}}, [](runtime& rt) {
    const auto object = rt.create<chain>();
    static_cast<void>(rt.call<&chain::grow>(object, 1000).get());
  });
  ASSERT_EQ(got.rows.size(), 1U);
  EXPECT_EQ(got.rows.front().bytes, 0U);
  EXPECT_EQ(got.rows.front().messages, 1U);
}

TEST(load_recording, holds_no_more_rows_than_it_may_and_loses_no_work) {
  constexpr int ranks = 3, objects = 5, steps = 200;
  const settings options{{"transport", "sim"},
                         {"ranks", std::to_string(ranks)},
                         {"balancer", "none"},
                         {"record_load_interval", "1ms"},
                         {"record_load_rows", "90"}};
  const recording got = recording_of(options, [](runtime& rt) {
    std::vector<mobile_ptr<plain>> all;
    for (int n = 0; n < objects; ++n) all.push_back(rt.create<plain>(seconds_of_step));
    for (int step = 0; step < steps; ++step) {
      for (const auto each : all) rt.send<&plain::run>(each);
      rt.wait_quiescence();
    }
  });
  EXPECT_NEAR(got.seconds(), ranks * objects * steps * seconds_of_step, 1e-2);
  EXPECT_LE(got.rows.size(), 90U);
  EXPECT_GE(got.rows.size(), 3U * objects);
  for (std::size_t row = 1; row < got.rows.size(); ++row) {
    const recorded_row &one = got.rows[row - 1], &next = got.rows[row];
    EXPECT_LT(std::tie(one.interval, one.rank, one.object), std::tie(next.interval, next.rank, next.object));
  }
  double width = 0;
  std::string word;
  std::istringstream(got.head) >> word >> word >> word >> width;
  EXPECT_GT(width, 0.1) << got.head;
}

}  // namespace
}  // namespace nacre::tests
