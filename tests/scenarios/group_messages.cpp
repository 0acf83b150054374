// SPDX-License-Identifier: Apache-2.0
// Mains that wait for messages to their own objects of a group.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scenarios.hpp"

namespace nacre::tests {
namespace {

using row = std::vector<double>;

/// One rank's part of a field of rows, which exchanges its border with its neighbours.
struct strip {
  std::atomic<std::uint64_t> rows_seen{0};

  nacre::awaited<row> halo(std::uint64_t, row values) {
    ++rows_seen;
    return values;
  }
  nacre::awaited<double> sum(context& ctx, std::uint64_t, std::span<const double> values) {
    double all = 100 * ctx.source().value();
    for (const double each : values) all += each;
    return all;
  }
  nacre::awaited<std::string> text(const std::string& name) {
    if (name == "wrong") throw std::out_of_range("this text is wrong");
    return name + "!";
  }
  nacre::awaited<> mark(std::int32_t, std::uint64_t value) {
    rows_seen += value;
    return {};
  }
  nacre::awaited<buffer> block(std::uint64_t, buffer bytes) { return bytes; }
  std::uint64_t seen() const { return rows_seen; }
};

rank_id before_of(const runtime& rt) { return rank_id((rt.rank().value() + rt.size() - 1) % rt.size()); }

/// The exchange of a program that was written for MPI: receives are posted, rows sent, and waited for. Ranks run ahead.
void ring(runtime& rt, std::uint64_t seed) {
  constexpr std::uint64_t steps = 60;
  const auto g = rt.create_group<strip>();
  const double own_value = static_cast<double>(rt.rank().value()),
               previous = static_cast<double>(before_of(rt).value());
  for (std::uint64_t step = 0; step < steps; ++step) {
    const bool early = (step + seed + rt.rank().value()) % 3 != 0;  // the request comes before the row, or behind it
    future<row> left;
    if (early) left = rt.next<&strip::halo>(g, step);
    rt.send<&strip::halo>(g[next_of(rt)], step, row(5 + step, own_value + static_cast<double>(step)));
    if (!early) left = rt.next<&strip::halo>(g, step);
    EXPECT_EQ(left.get(), row(5 + step, previous + static_cast<double>(step)));
  }
  EXPECT_EQ(rt.local(g).seen(), steps);
  rt.barrier();
  rt.destroy(g);
}

/// Steps that come in another order than they are asked for; views into messages; many of one step, in their order.
void any_order(runtime& rt, std::uint64_t) {
  constexpr std::uint64_t steps = 200, of_one_step = 50;
  const auto g = rt.create_group<strip>();
  const rank_id target = next_of(rt);
  for (std::uint64_t step = steps; step-- > 0;) {
    rt.send<&strip::sum>(g[target], step, row{1.0, static_cast<double>(step)});
  }
  const double source = 100 * before_of(rt).value();
  for (std::uint64_t step = 0; step < steps; ++step) {
    EXPECT_EQ(rt.next<&strip::sum>(g, step).get(), source + 1 + static_cast<double>(step));
  }
  for (std::uint64_t each = 0; each < of_one_step; ++each) rt.send<&strip::mark>(g[target], -7, each);
  std::vector<future<void>> all;
  for (std::uint64_t each = 0; each < of_one_step; ++each)
    all.push_back(rt.next<&strip::mark>(g, static_cast<std::uint64_t>(-7)));
  for (auto& each : all) each.get();
  EXPECT_EQ(rt.local(g).seen(), of_one_step * (of_one_step - 1) / 2);
  rt.send<&strip::block>(g[target], 1U, buffer(200'000));
  EXPECT_EQ(rt.next<&strip::block>(g, 1).get().size(), 200'000U);
  rt.barrier();
  rt.destroy(g);
}

/// A message counts as done while it is kept, so quiescence does not wait for main to ask.
void kept(runtime& rt, std::uint64_t) {
  const auto g = rt.create_group<strip>();
  rt.send<&strip::text>(g, "all");  // to every object, this rank's included
  rt.wait_quiescence();
  for (std::uint32_t each = 0; each < rt.size(); ++each) EXPECT_EQ(rt.next<&strip::text>(g).get(), "all!");
  EXPECT_FALSE(rt.next<&strip::text>(g).wait_for(0.0));
  rt.barrier();
  rt.destroy(g);
}

void results_for_main(runtime& rt, std::uint64_t) {
  const auto g = rt.create_group<strip>();
  auto answered = rt.call<&strip::text>(g[next_of(rt)], "a");
  EXPECT_EQ(rt.next<&strip::text>(g).get(), "a!");
  EXPECT_EQ(answered.get(), "a!");
  auto failed = rt.call<&strip::text>(g[next_of(rt)], "wrong");
  try {
    static_cast<void>(rt.next<&strip::text>(g).get());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const call_error& error) {
    EXPECT_NE(std::string(error.what()).find("this text is wrong"), std::string::npos) << error.what();
    EXPECT_EQ(error.type(), "std::out_of_range");
  }
  EXPECT_THROW(static_cast<void>(failed.get()), call_error);
  rt.barrier();
  rt.destroy(g);
}

/// A request that is dropped or cancelled takes no message.
void requests_given_up(runtime& rt, std::uint64_t) {
  const auto g = rt.create_group<strip>();
  {
    auto dropped = rt.next<&strip::text>(g);
    auto cancelled = rt.next<&strip::text>(g);
    auto moved = rt.next<&strip::text>(g);
    moved = future<std::string>();
    cancelled.cancel();
    EXPECT_THROW(static_cast<void>(cancelled.get()), call_error);
    EXPECT_FALSE(dropped.ready());
  }
  rt.barrier();  // else a message could come to a request before it is dropped
  auto first = rt.next<&strip::text>(g), second = rt.next<&strip::text>(g);
  rt.send<&strip::text>(g[next_of(rt)], "one");
  rt.send<&strip::text>(g[next_of(rt)], "two");
  std::string both = first.get();
  both += second.get();
  EXPECT_TRUE(both == "one!two!" || (both == "two!one!" && rt.workers() > 1)) << both;
  rt.barrier();
  rt.destroy(g);
}

void ends(runtime& rt, std::uint64_t) {
  const auto g = rt.create_group<strip>();
  auto asked = rt.next<&strip::halo>(g, 3);
  auto unanswered = rt.call<&strip::text>(g[next_of(rt)], "nobody asks");
  rt.wait_quiescence();
  rt.barrier();
  rt.destroy(g);
  try {
    static_cast<void>(asked.get());
    ADD_FAILURE() << "a message has come to a group that has ended";
  } catch (const call_error& error) {
    EXPECT_NE(std::string(error.what()).find("strip::halo with the number 3"), std::string::npos) << error.what();
  }
  EXPECT_THROW(static_cast<void>(unanswered.get()), call_error);
  EXPECT_THROW(static_cast<void>(rt.next<&strip::halo>(g, 1)), usage_error);
  EXPECT_THROW(rt.call<&strip::halo>(g[next_of(rt)], 1U, row{}).get(), call_error);
  EXPECT_THROW(static_cast<void>(rt.next<&strip::halo>(group_ptr<strip>(), 1)), usage_error);
}

constexpr std::array all_of_group_messages{
    scenario{"mains_exchange_rows_as_programs_for_mpi_do", ring},
    scenario{"mains_get_the_messages_of_a_group_by_number_in_any_order", any_order},
    scenario{"messages_to_a_group_that_main_asks_for_are_kept_until_then", kept},
    scenario{"messages_to_a_group_that_main_asks_for_have_results_and_errors", results_for_main},
    scenario{"a_request_of_main_that_is_given_up_takes_no_message", requests_given_up},
    scenario{"the_end_of_a_group_ends_the_requests_of_main", ends},
};

}  // namespace

std::span<const scenario> group_message_scenarios() { return all_of_group_messages; }

}  // namespace nacre::tests
