// SPDX-License-Identifier: Apache-2.0
// The trace of a run, read back, tells what the run's summary counts.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "trace/trace_log.hpp"

namespace {

using nacre::trace::event;
using nacre::trace::event_kind;
using nacre::trace::trace_log;

constexpr int steps = 300;
constexpr std::uint32_t ranks = 4;

/// Works for a while, again and again, and now and then moves on.
struct wanderer {
  int left = steps;
  void step(nacre::context& ctx) {
    ctx.charge(2e-6);
    if (--left == 0) return;
    if (left % 32 == 0) {
      ctx.migrate(ctx.self<wanderer>(), nacre::rank_id{(ctx.rank().value() + 1) % ctx.size()});
    }
    ctx.send<&wanderer::step>(ctx.self<wanderer>());
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(left);
  }
};

struct caller {
  nacre::task<int> ask(nacre::context& ctx, nacre::mobile_ptr<caller> other) {
    if (!other.id().valid()) co_return 1;
    const int answer = co_await ctx.call<&caller::ask>(other, nacre::mobile_ptr<caller>());
    ctx.charge(5e-6);
    co_return answer + 1;
  }
  template <class Archive>
  void serialize(Archive&) {}
};

void job(nacre::runtime& rt) {
  for (int each = 0; each < 3; ++each) rt.send<&wanderer::step>(rt.create<wanderer>());
  const auto first =
      rt.broadcast(rt.rank().value() == 0 ? rt.create<caller>() : nacre::mobile_ptr<caller>(), nacre::rank_id{0});
  EXPECT_EQ(rt.call<&caller::ask>(rt.create<caller>(), first).get(), 2);
  rt.wait_quiescence();
}

std::string path_for(const char* name) { return testing::TempDir() + "nacre_trace_test_" + name; }

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Runs the job with its trace in a file.
nlohmann::json run_traced(const std::string& trace, nacre::config configuration) {
  const std::string summary = trace + ".json";
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "2");
  configuration.set("trace", trace);
  configuration.set("summary_json", summary);
  EXPECT_EQ(nacre::run(configuration, job), 0);
  std::ifstream file(summary);
  auto read = nlohmann::json::parse(file);
  std::filesystem::remove(summary);
  return read;
}

nacre::config simulated(const char* seed) {
  nacre::config configuration;
  configuration.set("transport", "sim");
  configuration.set("seed", seed);
  return configuration;
}

struct counts {
  std::uint64_t handlers = 0, steals = 0, sent = 0, bytes = 0, out = 0, in = 0, created = 0, resumed = 0;
  std::uint64_t begun = 0, ended = 0;
  void take(const event& one) {
    switch (one.kind) {
      case event_kind::handler_begin:
      case event_kind::module_begin:
        ++handlers;
        break;
      case event_kind::resume_begin:
        ++resumed;
        break;
      case event_kind::send:
        ++sent;
        bytes += one.b;
        break;
      case event_kind::steal:
        steals += one.a;
        break;
      case event_kind::depart:
        ++out;
        break;
      case event_kind::arrive:
        ++in;
        break;
      case event_kind::create:
        ++created;
        break;
      default:
        break;
    }
    if (one.kind == event_kind::end) {
      ++ended;
    } else if (one.kind < event_kind::send) {
      ++begun;
    }
  }
};

/// By rank and thread context.
std::map<std::pair<std::uint32_t, std::uint32_t>, counts> count(const trace_log& log) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, counts> all;
  for (std::size_t index = 0; index < log.tracks().size(); ++index) {
    counts& thread_counts = all[{log.tracks()[index].rank, log.tracks()[index].thread}];
    std::int64_t last = 0;
    log.visit(index, [&](std::span<const event> events) {
      for (const event& each : events) {
        EXPECT_GE(each.ns, last);
        last = each.ns;
        thread_counts.take(each);
      }
    });
  }
  return all;
}

void expect_like_the_summary(const trace_log& log, const nlohmann::json& told) {
  const auto tracks = count(log);
  for (const auto& row : told["workers"]) {
    const counts& track_counts = tracks.at({row["rank"], row["worker"]});
    EXPECT_EQ(track_counts.handlers, row["handlers"]) << row;
    EXPECT_EQ(track_counts.steals, row["steals"]) << row;
    EXPECT_LE(track_counts.begun - track_counts.ended, 1U) << "what has begun ends, but for the idling at the end";
  }
  for (const auto& row : told["ranks"]) {
    counts sum;
    for (const auto& [thread, track_counts] : tracks) {
      if (thread.first != row["rank"]) continue;
      sum.sent += track_counts.sent;
      sum.bytes += track_counts.bytes;
      sum.out += track_counts.out;
      sum.in += track_counts.in;
    }
    EXPECT_EQ(sum.sent, row["messages_sent"]) << row;
    EXPECT_EQ(sum.bytes, row["bytes_sent"]) << row;
    EXPECT_EQ(sum.out, row["migrations_out"]) << row;
    EXPECT_EQ(sum.in, row["migrations_in"]) << row;
  }
}

TEST(trace, of_a_simulated_run_has_the_counts_of_its_summary) {
  const std::string path = path_for("counts");
  const nlohmann::json told = run_traced(path, simulated("3"));
  const trace_log log(path);
  std::filesystem::remove(path);
  EXPECT_TRUE(log.notes().empty());
  EXPECT_EQ(log.job().ranks, ranks);
  EXPECT_TRUE(log.job().simulated);
  EXPECT_EQ(log.workers(), std::vector<std::uint32_t>(ranks, 2));
  expect_like_the_summary(log, told);
  counts sum;
  for (const auto& [thread, track_counts] : count(log)) {
    sum.out += track_counts.out;
    sum.steals += track_counts.steals;
    sum.created += track_counts.created;
    sum.resumed += track_counts.resumed;
  }
  EXPECT_GT(sum.out, 50U) << "or nothing was tested";
  EXPECT_GT(sum.steals, 10U) << "or nothing was tested";
  EXPECT_EQ(sum.created, ranks * 4 + 1U);
  EXPECT_EQ(sum.resumed, ranks);
  EXPECT_NEAR(static_cast<double>(log.end_ns()) * 1e-9, told["seconds"].get<double>(), 1e-6);
}

TEST(trace, of_one_seed_has_the_same_bytes_and_of_another_has_not) {
  const std::string path = path_for("bytes");
  const auto bytes = [&](const char* seed) {
    run_traced(path, simulated(seed));
    std::string read = bytes_of(path);
    std::filesystem::remove(path);
    return read;
  };
  const std::string one = bytes("5"), again = bytes("5"), other = bytes("6");
  EXPECT_GT(one.size(), 1000U);
  EXPECT_TRUE(one == again);
  EXPECT_FALSE(one == other);
}

TEST(trace, of_small_buffers_loses_nothing) {
  const std::string path = path_for("small");
  nacre::config configuration = simulated("3");
  configuration.set("trace_memory", "64KiB");  // 4 KiB for each thread context: it is written many times
  const nlohmann::json told = run_traced(path, configuration);
  expect_like_the_summary(trace_log(path), told);
  std::filesystem::remove(path);
}

/// Migrations pair up, though threads record them.
TEST(trace, of_threads_has_every_migration_from_its_departure_to_its_arrival) {
  const std::string path = path_for("threads");
  const nlohmann::json told = run_traced(path, {});
  const trace_log log(path);
  std::filesystem::remove(path);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::pair<event, std::uint32_t>>> moves;
  for (std::size_t index = 0; index < log.tracks().size(); ++index) {
    log.visit(index, [&](std::span<const event> events) {
      for (const event& each : events) {
        if (each.kind == event_kind::depart || each.kind == event_kind::arrive) {
          moves[{each.a, each.c}].emplace_back(each, log.tracks()[index].rank);
        }
      }
    });
  }
  std::uint64_t told_moves = 0;
  for (const auto& row : told["ranks"]) told_moves += row["migrations_out"].get<std::uint64_t>();
  EXPECT_EQ(moves.size(), told_moves);
  for (auto& [move, ends] : moves) {
    ASSERT_EQ(ends.size(), 2U);
    if (ends[0].first.kind == event_kind::arrive) std::swap(ends[0], ends[1]);
    EXPECT_EQ(ends[0].first.b, ends[1].second);
    EXPECT_EQ(ends[1].first.b, ends[0].second);
    EXPECT_LE(ends[0].first.ns, ends[1].first.ns + 1000) << "counters of cores may differ a little";
  }
}

TEST(trace, that_has_no_room_costs_a_line_and_the_exit_code_and_not_the_job) {
  nacre::config configuration = simulated("3");
  configuration.set("trace", "/dev/full");
  testing::internal::CaptureStderr();
  EXPECT_EQ(nacre::run(configuration, job), 1);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "nacre: the trace '/dev/full' ends here: No space left on device; the job goes on without it\n");
}

TEST(trace, that_cannot_be_begun_is_refused_before_anything_runs) {
  nacre::config configuration = simulated("3");
  configuration.set("trace", path_for("no_such_folder") + "/file");
  testing::internal::CaptureStderr();
  EXPECT_EQ(nacre::run(configuration, [](nacre::runtime&) { ADD_FAILURE() << "it runs"; }), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("No such file or directory (--nacre.trace asks for it)"),
            std::string::npos);
}

}  // namespace
