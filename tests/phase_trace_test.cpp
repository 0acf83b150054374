// SPDX-License-Identifier: Apache-2.0
// The phases of a program in its trace are those of its summary, in virtual time and on threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "phase_test_kit.hpp"
#include "trace/trace_log.hpp"

namespace {

using nacre::tests::phases_of;
using nacre::tests::phases_under_sim;
using nacre::trace::event;
using nacre::trace::event_kind;

/// Pieces of a trace, from a phase's begin or a wait to its end or the next wait.
struct phase_pieces {
  std::uint64_t begun = 0, resumed = 0;
  std::int64_t own_ns = 0;
  std::map<std::uint32_t, std::uint64_t> by_thread{};
};

/// By name; checks that what begins ends, and that phases are inside of handlers or main.
std::map<std::string, phase_pieces> phases_in(const nacre::trace::trace_log& log) {
  std::map<std::string, phase_pieces> all;
  for (std::size_t index = 0; index < log.tracks().size(); ++index) {
    std::vector<event> open;
    std::int64_t last = 0;
    log.visit(index, [&](std::span<const event> events) {
      for (const event& each : events) {
        if (!open.empty() && nacre::trace::is_phase(open.back().kind)) {
          all[log.phases()[open.back().a]].own_ns += each.ns - last;
        }
        last = each.ns;
        if (nacre::trace::begins(each.kind)) {
          if (nacre::trace::is_phase(each.kind)) {
            EXPECT_FALSE(open.empty()) << "a phase outside of everything";
            phase_pieces& pieces = all[log.phases()[each.a]];
            ++(each.kind == event_kind::phase_begin ? pieces.begun : pieces.resumed);
            ++pieces.by_thread[log.tracks()[index].thread];
          }
          open.push_back(each);
        } else if (each.kind == event_kind::end && !open.empty()) {
          open.pop_back();
        }
      }
    });
    EXPECT_LE(open.size(), 1U) << "what has begun ends, but for the idling at the end";
  }
  return all;
}

struct phase_worker {
  int rounds = 0;
  nacre::task<void> go(nacre::context& ctx) {
    const nacre::phase outer(ctx, "round");
    for (rounds = 0; rounds < 5; ++rounds) {
      const nacre::phase inner(ctx, rounds % 2 == 0 ? "even" : "odd");
      ctx.charge(1e-5 * (1 + ctx.rank().value()));
      co_await ctx.sleep(2e-5);
      ctx.charge(1e-5);
    }
    // Suspended coroutines keep their object where it is; now it may leave.
    ctx.migrate(ctx.self<phase_worker>(), nacre::rank_id{(ctx.rank().value() + 1) % ctx.size()});
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(rounds);
  }
};

void phase_job(nacre::runtime& rt) {
  const nacre::phase phase(rt, "main");
  std::vector<nacre::mobile_ptr<phase_worker>> all;
  for (int each = 0; each < 8; ++each) all.push_back(rt.create<phase_worker>());
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const auto& each : all) rt.send<&phase_worker::go>(each);
    if (repeat == 1) rt.migrate(all.front(), nacre::rank_id{(rt.rank().value() + 1) % rt.size()}).get();
    rt.wait_quiescence();
  }
}

void expect_trace_like_summary(nacre::config configuration, bool exact, const char* name) {
  const std::string path = testing::TempDir() + "nacre_phase_trace_" + name;
  configuration.set("trace", path);
  const auto rows = phases_of(configuration, phase_job);
  const nacre::trace::trace_log log(path);
  EXPECT_TRUE(log.notes().empty());
  const auto pieces = phases_in(log);
  std::remove(path.c_str());
  ASSERT_EQ(rows.size(), 4U);
  ASSERT_EQ(pieces.size(), 4U);
  for (const auto& [phase, row] : rows) {
    const phase_pieces& phase_pieces = pieces.at(phase);
    EXPECT_EQ(phase_pieces.begun, row["count"]) << phase;
    const double seconds = row["seconds"];
    EXPECT_GT(seconds, 0) << phase;
    if (exact) {
      EXPECT_NEAR(static_cast<double>(phase_pieces.own_ns) * 1e-9, seconds, 1e-9) << phase;
    } else {
      EXPECT_GT(phase_pieces.own_ns, 0) << phase;
    }
  }
  const std::uint64_t runs = 2 * 8 * 3;
  EXPECT_EQ(pieces.at("main").begun, 2U);
  EXPECT_EQ(pieces.at("round").begun, runs);
  EXPECT_EQ(pieces.at("even").begun, 3 * runs);
  EXPECT_EQ(pieces.at("odd").begun, 2 * runs);
  EXPECT_GE(pieces.at("round").resumed, 5 * runs) << "after each wait";
  EXPECT_GE(pieces.at("main").resumed, 3U);
}

TEST(traced_phase, has_the_same_time_in_the_trace_as_in_the_summary_when_other_workers_and_ranks_go_on_with_it) {
  expect_trace_like_summary(phases_under_sim("2", "3"), true, "sim");
}

TEST(traced_phase, goes_on_with_its_coroutine_on_whichever_thread) {
  nacre::config configuration;
  configuration.set("transport", "inproc");
  configuration.set("ranks", "2");
  configuration.set("workers", "3");
  expect_trace_like_summary(configuration, false, "threads");
}

TEST(traced_phase, of_one_seed_makes_the_same_trace) {
  const std::string path = testing::TempDir() + "nacre_phase_seed";
  const auto bytes = [&] {
    nacre::config configuration = phases_under_sim("2", "3");
    configuration.set("trace", path);
    EXPECT_EQ(nacre::run(configuration, phase_job), 0);
    std::ifstream file(path, std::ios::binary);
    std::string read{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::remove(path.c_str());
    return read;
  };
  const std::string first = bytes();
  EXPECT_GT(first.size(), 1000U);
  EXPECT_TRUE(first == bytes());
}

}  // namespace
