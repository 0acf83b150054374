// SPDX-License-Identifier: Apache-2.0
// The summary of a run accounts for all of its time, and for every way of a message to an object.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

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

nlohmann::json summary_of(nacre::config configuration, const std::function<void(nacre::runtime&)>& main) {
  const std::string path = testing::TempDir() + "nacre_summary_test_" + std::to_string(getpid());
  configuration.set("summary_json", path);
  EXPECT_EQ(nacre::run(configuration, main), 0);
  std::ifstream file(path);
  const auto read = nlohmann::json::parse(file);
  std::remove(path.c_str());
  return read;
}

TEST(summary, counts_the_messages_of_balancers_and_of_the_detectors_of_quiescence_apart) {
  for (const char* balancer : {"none", "steal"}) {
    nacre::config configuration;
    configuration.set("transport", "sim");
    configuration.set("ranks", "2");
    configuration.set("balancer", balancer);
    const nlohmann::json all = summary_of(configuration, [](nacre::runtime& rt) {
      if (rt.rank().value() == 0) rt.send<&busy::go_on>(rt.create<busy>());
      rt.wait_quiescence();
    });
    for (const auto& row : all["ranks"]) {
      EXPECT_EQ(row["balancer_messages"] == 0, balancer == std::string("none")) << row;
      EXPECT_GT(row["quiescence_messages"], 0) << row;
      EXPECT_LE(row["balancer_messages"].get<int>() + row["quiescence_messages"].get<int>(), row["messages_sent"])
          << row;
    }
  }
}

TEST(summary, handlers_runtime_and_idling_of_a_simulated_worker_add_up_to_the_run) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "2");
  const nlohmann::json all = summary_of(configuration, [](nacre::runtime& rt) {
    if (rt.rank().value() == 0) rt.send<&busy::go_on>(rt.create<busy>());
  });
  const double seconds = all["seconds"];
  ASSERT_EQ(all["workers"].size(), 2U);
  for (const auto& row : all["workers"]) {
    const double handler = row["handler_seconds"], runtime = row["runtime_seconds"], idle = row["idle_seconds"];
    EXPECT_NEAR(handler + runtime + idle, seconds, 0.03 * seconds) << row;
  }
  EXPECT_NEAR(all["workers"][0]["handler_seconds"], handlers * seconds_a_handler, 0.1 * handlers * seconds_a_handler);
  EXPECT_GT(all["workers"][1]["idle_seconds"], 0.9 * seconds);
}

/// Asks for a file, and counts the mains that run.
struct wanted {
  const char* option;
  int mains = 0;
  int run(
      const std::string& path, const std::function<void()>& meanwhile = [] {}) {
    nacre::config configuration;
    configuration.set("transport", "inproc");
    configuration.set(option, path);
    return nacre::run(configuration, [&](nacre::runtime&) { ++mains, meanwhile(); });
  }
};

TEST(files_of_the_end, that_cannot_be_written_are_told_of_before_the_start) {
  const std::string remote = testing::TempDir() + "nacre_files_of_the_end" + std::to_string(getpid());
  for (const char* option : {"summary_json", "record_load"}) {
    wanted file{option};
    testing::internal::CaptureStderr();
    EXPECT_EQ(file.run("/no_such_folder/file"), 2);
    EXPECT_EQ(file.run("/"), 2);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("'/no_such_folder/file' cannot be written: No such file or directory (--nacre."), told.npos);
    EXPECT_NE(told.find("'/' cannot be written: Is a directory"), told.npos) << told;
    EXPECT_EQ(file.mains, 0);

    std::ofstream(remote) << "precious";
    std::string seen;
    EXPECT_EQ(file.run(remote, [&] { std::ifstream(remote) >> seen; }), 0);
    EXPECT_EQ(seen, "precious") << "what is there stays until there is something better";
    std::remove(remote.c_str());
    EXPECT_EQ(file.run(remote, [&] { EXPECT_FALSE(std::ifstream(remote)) << "an empty file says nothing"; }), 0);
    EXPECT_TRUE(std::ifstream(remote));
    std::remove(remote.c_str());
  }
}

TEST(files_of_the_end, that_are_lost_after_all_end_nothing_and_the_exit_code_tells) {
  if (!std::ofstream("/dev/full")) GTEST_SKIP() << "no device that is always full";
  for (const char* option : {"summary_json", "record_load"}) {
    wanted file{option};
    testing::internal::CaptureStderr();
    EXPECT_EQ(file.run("/dev/full"), 1);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("'/dev/full' is lost: No space left on device\n"), told.npos) << told;
    EXPECT_EQ(file.mains, 1);
  }
}

struct listener {
  std::uint32_t heard = 0;
  void hear() { ++heard; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

TEST(summary, handlers_so_short_that_they_are_timed_together_are_accounted_for) {
  constexpr int elements = 10'000, rounds = 50;
  nacre::config configuration;
  configuration.set("transport", "inproc");
  configuration.set("workers", "1");
  const nlohmann::json all = summary_of(configuration, [](nacre::runtime& rt) {
    const auto array = rt.create_array<listener>(nacre::extents{elements}, [](nacre::index) { return listener{}; });
    for (int round = 0; round < rounds; ++round) rt.call<&listener::hear>(array).get();
  });
  const double handler = all["workers"][0]["handler_seconds"], runtime = all["workers"][0]["runtime_seconds"];
  EXPECT_GT(handler, 1e-9 * elements * rounds) << "a nanosecond each";
  EXPECT_LE(handler, static_cast<double>(all["seconds"]));
  EXPECT_GE(runtime, 0);
}

/// Its handler works before and after it has waited, by `next` and for a time.
struct waiting {
  int done = 0;
  nacre::awaited<> go(int) { return {}; }
  nacre::task<void> work(nacre::context& ctx, int number) {
    ctx.charge(seconds_a_handler);
    if (number % 3 == 0) co_await ctx.next<&waiting::go>(number);
    if (number % 3 == 1) co_await ctx.sleep(1e-6);
    ctx.charge(3 * seconds_a_handler);
    ++done;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(done);
  }
};

TEST(summary, what_a_coroutine_takes_after_it_has_waited_is_its_handlers_time_also_in_the_trace_of_loads) {
  constexpr int coroutines = 300;
  const std::string path = testing::TempDir() + "nacre_coroutine_loads" + std::to_string(getpid());
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("record_load", path);
  const nlohmann::json all = summary_of(configuration, [](nacre::runtime& rt) {
    const auto object = rt.create<waiting>();
    for (int number = 0; number < coroutines; ++number) {
      rt.send<&waiting::work>(object, number);
      if (number % 3 == 0) rt.send<&waiting::go>(object, number);
    }
  });
  const double expected = 4 * coroutines * seconds_a_handler;
  EXPECT_NEAR(all["workers"][0]["handler_seconds"], expected, 0.02 * expected);
  double recorded = 0;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    double interval = 0, rank = 0, object = 0, seconds = 0;
    if (words >> interval >> rank >> object >> seconds) recorded += seconds;
  }
  std::remove(path.c_str());
  EXPECT_NEAR(recorded, expected, 0.02 * expected);
}

struct parcel {
  std::uint32_t opened = 0;
  std::uint32_t open() { return ++opened; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(opened);
  }
};

TEST(counters, hops_forwards_updates_and_migrations_of_known_messages_are_counted_where_they_happen) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("ranks", "3");
  std::vector<nacre::rank_counters> seen(3);
  const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
    const bool owner = rt.rank().value() == 0, sender = rt.rank().value() == 1;
    const auto p = rt.broadcast(owner ? rt.create<parcel>() : nacre::mobile_ptr<parcel>(), nacre::rank_id{0});
    if (sender) {
      EXPECT_EQ(rt.call<&parcel::open>(p).get(), 1U);
    }
    rt.barrier();
    if (owner) rt.migrate(p, nacre::rank_id{2}).get();
    rt.barrier();
    if (sender) {
      EXPECT_EQ(rt.call<&parcel::open>(p).get(), 2U);  // by way of the old place, which makes one update
    }
    rt.wait_quiescence();
    rt.barrier();  // the update has been received
    if (sender) {
      EXPECT_EQ(rt.call<&parcel::open>(p).get(), 3U);
    }
    rt.wait_quiescence();
    seen[rt.rank().value()] = rt.counters();
  });
  EXPECT_EQ(code, 0);
  const auto& [owner, sender, last] = std::tie(seen[0], seen[1], seen[2]);
  EXPECT_EQ(sender.hops, 3U);
  EXPECT_EQ(sender.forwards, 0U);
  EXPECT_EQ(sender.updates_received, 1U);
  EXPECT_EQ(owner.hops, 1U);
  EXPECT_EQ(owner.forwards, 1U);
  EXPECT_EQ(owner.updates_received, 0U) << "the home has sent it there itself";
  EXPECT_EQ(owner.migrations_out, 1U);
  EXPECT_EQ(last.migrations_in, 1U);
  EXPECT_EQ(last.updates_sent, 1U);
  EXPECT_EQ(last.hops, 0U);
  EXPECT_GT(sender.messages_sent, 3U);
  EXPECT_GT(sender.bytes_sent, 3U);
}

/// Gives a message to its neighbour in a ring, so many times.
struct ring_member {
  nacre::mobile_ptr<ring_member> next{};
  void set(nacre::mobile_ptr<ring_member> object) { next = object; }
  void pass(nacre::context& ctx, int left) {
    if (left > 0) ctx.send<&ring_member::pass>(next, left - 1);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(next);
  }
};

constexpr int passes = 1000, members = 5;

void expect_local_messages_counted(nacre::config configuration) {
  configuration.set("ranks", "2");
  configuration.set("balancer", "none");
  const nlohmann::json all = summary_of(configuration, [](nacre::runtime& rt) {
    if (rt.rank().value() == 0) {
      std::vector<nacre::mobile_ptr<ring_member>> ring;
      for (int each = 0; each < members; ++each) ring.push_back(rt.create<ring_member>());
      for (int each = 0; each < members; ++each) rt.send<&ring_member::set>(ring[each], ring[(each + 1) % members]);
      rt.send<&ring_member::pass>(ring.front(), passes);
      rt.send(
          rt.rank(), [](int) {}, 1);
    }
    rt.wait_quiescence();
    EXPECT_EQ(rt.counters().messages_local, rt.rank().value() == 0 ? members + 1U + passes + 1U : 0U);
  });
  EXPECT_EQ(all["ranks"][0]["messages_local"], members + 1 + passes + 1);
  EXPECT_EQ(all["ranks"][1]["messages_local"], 0);
  EXPECT_EQ(all["ranks"][0]["hops"], 0) << "none went elsewhere";
}

TEST(summary, counts_messages_to_objects_of_the_same_rank) {
  nacre::config configuration;
  configuration.set("transport", "inproc");
  configuration.set("workers", "2");
  expect_local_messages_counted(configuration);
  configuration.set("aggregate", "off");
  expect_local_messages_counted(configuration);
}

TEST(summary, counts_messages_to_objects_of_the_same_rank_also_in_a_simulation) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  expect_local_messages_counted(configuration);
}

}  // namespace
