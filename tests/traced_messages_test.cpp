// SPDX-License-Identifier: Apache-2.0
// Programs note departures and arrivals of messages in a trace.
#include <nacre/traced_message.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include <nacre/nacre.hpp>

#include "trace/trace_log.hpp"

namespace {

constexpr std::uint32_t ranks = 3;
constexpr std::uint64_t rounds = 50;

/// A ball that goes round, over links that are short handlers of one kind.
void throw_on(nacre::context& ctx, std::uint64_t left) {
  nacre::trace_arrival(ctx, ctx.source(), left, sizeof left);
  if (left == 0) return;
  const nacre::rank_id next{(ctx.rank().value() + 1) % ranks};
  nacre::trace_departure<&throw_on>(ctx, next, left - 1);
  ctx.send<&throw_on>(next, left - 1);
}

void begin(nacre::context& ctx, bool traced) {
  EXPECT_EQ(nacre::is_traced(ctx), traced);
  nacre::trace_departure<&throw_on>(ctx, ctx.rank(), ranks * rounds);
  ctx.send<&throw_on>(ctx.rank(), ranks * rounds);
}

int play(nacre::config configuration, bool traced) {
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "1");
  return nacre::run(configuration, [traced](nacre::runtime& rt) {
    if (rt.rank().value() == 0) rt.send<&begin>(rt.rank(), traced);
    rt.wait_quiescence();
  });
}

class traced_messages : public testing::TestWithParam<const char*> {
 protected:
  traced_messages() { configuration_.set("transport", GetParam()); }
  nacre::config configuration_;
};

TEST_P(traced_messages, have_both_ends_in_the_trace_with_ranks_number_handler_and_size) {
  const std::string path = testing::TempDir() + "nacre_traced_messages_" + GetParam();
  configuration_.set("trace", path);
  ASSERT_EQ(play(configuration_, true), 0);
  using nacre::trace::event_kind;
  struct ends {
    int departures = 0, arrivals = 0;
    std::int64_t departed = 0, arrived = 0;
  };
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, ends> messages;
  const nacre::trace::trace_log log(path);
  for (std::size_t index = 0; index < log.tracks().size(); ++index) {
    const std::uint64_t rank = log.tracks()[index].rank;
    log.visit(index, [&](std::span<const nacre::trace::event> events) {
      for (const auto& each : events) {
        if (each.kind == event_kind::message_departs) {
          auto& message = messages[{rank, each.b, each.a}];
          ++message.departures;
          message.departed = each.ns;
          EXPECT_NE(log.job().handlers.at(each.c).find("throw_on"), std::string::npos);
        } else if (each.kind == event_kind::message_arrives) {
          auto& message = messages[{each.b, rank, each.a}];
          ++message.arrivals;
          message.arrived = each.ns;
          EXPECT_EQ(each.c, sizeof(std::uint64_t));
        }
      }
    });
  }
  EXPECT_EQ(messages.size(), ranks * rounds + 1);
  for (const auto& [key, message] : messages) {
    EXPECT_EQ(message.departures, 1);
    EXPECT_EQ(message.arrivals, 1);
    EXPECT_LE(message.departed, message.arrived) << "all ranks have one clock here";
  }
  std::filesystem::remove(path);
}

TEST_P(traced_messages, are_not_noted_without_a_trace) { EXPECT_EQ(play(configuration_, false), 0); }

void aim_too_far(nacre::context& ctx) {
  EXPECT_THROW(nacre::trace_departure<&throw_on>(ctx, nacre::rank_id{ranks}, 1), nacre::usage_error);
  EXPECT_THROW(nacre::trace_arrival(ctx, nacre::rank_id{ranks}, 1, 1), nacre::usage_error);
}

TEST_P(traced_messages, of_ranks_that_there_are_not_are_refused) {
  const std::string path = testing::TempDir() + "nacre_traced_messages_far_" + GetParam();
  configuration_.set("trace", path);
  configuration_.set("ranks", std::to_string(ranks));
  EXPECT_EQ(nacre::run(configuration_,
                       [](nacre::runtime& rt) {
                         rt.send<&aim_too_far>(rt.rank());
                         rt.wait_quiescence();
                       }),
            0);
  EXPECT_NO_THROW(nacre::trace::trace_log{path});
  std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(over, traced_messages, testing::Values("sim", "inproc"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
