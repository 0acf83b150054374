// SPDX-License-Identifier: Apache-2.0
// Messages that may be lost, on threads and on a simulated network: what comes of them, and what waits for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace nacre::tests {
namespace {

constexpr with lossy{.reliable = false};
constexpr with lossy_at_once{.category = category::communication, .reliable = false};

/// What has come to all ranks of this process.
struct arrivals {
  std::atomic<std::uint32_t> came{0}, wrong{0}, followers{0};
  std::mutex mutex;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // under mutex: source and number

  void clear() {
    came = wrong = followers = 0;
    seen.clear();
  }
};
arrivals& all() {
  static arrivals result;
  return result;
}

double value_of(std::uint32_t number, std::size_t place) {
  return static_cast<double>(number) * 1e6 + static_cast<double>(place);
}

std::vector<double> values_of(std::uint32_t number, std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = value_of(number, i);
  return result;
}

std::size_t length_of(std::uint32_t number) { return number % 10 == 9 ? 40'000 : number * 37 % 300; }

void take(context& ctx, std::uint32_t number, std::span<const double> values) {
  ++all().came;
  bool right = values.size() == length_of(number);
  for (std::size_t i = 0; right && i < values.size(); ++i) right = values[i] == value_of(number, i);
  const std::scoped_lock lock(all().mutex);
  if (!right || !all().seen.emplace(ctx.source().value(), number).second) ++all().wrong;
}

config job_of(const std::string& transport, std::uint32_t ranks) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", std::to_string(ranks));
  configuration.set("workers", "2");
  return configuration;
}
config losing(double share, std::uint64_t seed = 1) {
  config configuration = job_of("sim", 3);
  configuration.set("sim.loss_probability", std::to_string(share));
  configuration.set("sim.late_probability", "0.1");
  configuration.set("seed", std::to_string(seed));
  return configuration;
}

/// Each rank sends `count` messages to the next one, now and then a little later.
std::uint32_t send_round(const config& configuration, std::uint32_t count) {
  all().clear();
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const rank_id next((rt.rank().value() + 1) % rt.size());
                  for (std::uint32_t number = 0; number < count; ++number) {
                    const std::vector<double> values = values_of(number, length_of(number));
                    const std::size_t half = values.size() / 2;
                    if (number % 2 == 0) {
                      rt.send<take>(number % 4 == 0 ? lossy : lossy_at_once, next, number, values);
                    } else {
                      rt.send<take>(lossy, next, number,
                                    gather(std::span(values).first(half), std::span(values).subspan(half)));
                    }
                    if (number % 5 == 4) rt.sleep(1e-3).wait();
                  }
                  rt.sleep(0.05).wait();
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_EQ(all().wrong, 0U);
  return all().came;
}

TEST(unreliable, messages_come_once_and_unchanged_where_nothing_loses_them) {
  for (const char* const transport : {"inproc", "sim"}) {
    SCOPED_TRACE(transport);
    EXPECT_EQ(send_round(job_of(transport, 3), 60), 180U);
  }
}

TEST(unreliable, on_a_simulated_network_they_are_lost_as_often_as_one_of_their_fragments_is) {
  std::uint32_t short_ones = 0, long_ones = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::uint32_t came = send_round(losing(0.01, seed), 60);
    EXPECT_LT(came, 180U) << "seed " << seed;
    for (const auto& [source, number] : all().seen) ++(length_of(number) > 1000 ? long_ones : short_ones);
  }
  EXPECT_NEAR(short_ones, 20 * 3 * 54 * 0.985, 60) << "of 1 to 3 fragments";
  EXPECT_LT(long_ones, 20 * 3 * 6 / 5) << "of 274 fragments: 0.99^274 of them come";
}

TEST(unreliable, one_seed_is_one_run) {
  const std::uint32_t once = send_round(losing(0.2), 60);
  const auto seen = all().seen;
  EXPECT_EQ(send_round(losing(0.2), 60), once);
  EXPECT_EQ(all().seen, seen);
}

TEST(unreliable, nothing_waits_for_messages_that_are_all_lost) {
  EXPECT_EQ(send_round(losing(1), 30), 0U);
  all().clear();
  EXPECT_EQ(run(losing(1), [](runtime& rt) { rt.send<take>(lossy, to_all, 0U, std::span<const double>()); }), 0);
  EXPECT_EQ(all().came, 3U) << "those to the own rank come";
}

/// A chain of messages that cannot be lost follows each one.
void follow(context& ctx, std::uint32_t steps) {
  ++all().followers;
  if (steps != 0) ctx.send<follow>(rank_id((ctx.rank().value() + 1) % ctx.size()), steps - 1);
}
void start_chain(context& ctx) {
  ++all().came;
  ctx.send<follow>(rank_id((ctx.rank().value() + 1) % ctx.size()), 9U);
}
/// Answers with another unreliable message while any is left, so that some come when the ranks end.
void play(context& ctx, std::uint32_t left) {
  if (left == 0) return;
  ctx.charge(1e-6);
  if (left % 5 == 0) ctx.send<start_chain>(lossy, ctx.source());
  ctx.send<play>(lossy, ctx.source(), left - 1);
}

TEST(unreliable, what_the_handler_of_one_that_has_come_begins_is_done_before_the_job_ends) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    for (const bool waits : {true, false}) {
      all().clear();
      config configuration = losing(seed % 3 == 0 ? 0 : 0.1, seed);
      configuration.set("sim.late_probability", "0.04");
      configuration.set("sim.late_factor", std::to_string(1 + seed));  // some come while the ranks agree that they end
      EXPECT_EQ(run(configuration,
                    [&](runtime& rt) {
                      for (std::uint32_t i = 0; i < 20; ++i) {
                        rt.send<start_chain>(i % 2 == 0 ? lossy : lossy_at_once,
                                             rank_id((rt.rank().value() + 1) % rt.size()));
                      }
                      if (seed % 4 == 0) rt.send<play>(lossy, rank_id((rt.rank().value() + 1) % rt.size()), 50U);
                      if (waits) rt.wait_quiescence();
                    }),
                0);
      ASSERT_EQ(all().followers, 10 * all().came) << "seed " << seed;
    }
  }
}

task<void> double_check(context& ctx, std::uint32_t number, std::span<const double> values) {
  co_await ctx.sleep(1e-3);
  const int answer = co_await ctx.call(
      ctx.source(), [](int n) { return n + 1; }, 1);
  if (answer != 2 || values.size() != length_of(number)) ++all().wrong;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != value_of(number, i)) ++all().wrong;
  }
  ++all().came;
}

TEST(unreliable, a_handler_may_be_a_coroutine_that_keeps_the_message) {
  for (const char* const transport : {"inproc", "sim"}) {
    all().clear();
    EXPECT_EQ(run(job_of(transport, 2),
                  [](runtime& rt) {
                    for (const std::uint32_t number : {5U, 9U}) {
                      rt.send<double_check>(lossy, rank_id{1 - rt.rank().value()}, number,
                                            values_of(number, length_of(number)));
                    }
                    rt.sleep(0.02).wait();
                  }),
              0);
    EXPECT_EQ(all().came, 4U) << transport;
    EXPECT_EQ(all().wrong, 0U) << transport;
  }
}

struct cell {
  void step(int) {}
  template <class Archive>
  void serialize(Archive&) {}
};
/// Its packing throws.
struct unwilling {
  template <class Archive>
  void serialize(Archive&) {
    throw std::runtime_error("will not be packed");
  }
};
void take_unwilling(const std::vector<unwilling>&) {}
void take_bytes(std::span<const std::byte> bytes) { all().came += static_cast<std::uint32_t>(bytes.size()); }

TEST(unreliable, what_cannot_be_sent_is_an_error_at_the_caller) {
  all().clear();
  EXPECT_EQ(
      run(job_of("sim", 2),
          [](runtime& rt) {
            const rank_id other{1 - rt.rank().value()};
            const auto object = rt.create<cell>();
            const auto group = rt.create_group<cell>();
            const std::vector<std::byte> longest(unreliable_bytes_max - 4), longer(unreliable_bytes_max - 3);
            EXPECT_THROW(rt.send<&cell::step>(lossy, object, 1), usage_error);
            EXPECT_THROW(rt.send<&cell::step>(lossy, group, 1), usage_error);
            EXPECT_THROW(rt.send<&cell::step>(lossy, group[other], 1), usage_error);
            EXPECT_THROW(static_cast<void>(rt.call(lossy, other, [] { return 1; })), usage_error);
            EXPECT_THROW(static_cast<void>(rt.call(lossy, to_all, [] {})), usage_error);
            EXPECT_THROW(rt.after(lossy, 0.1, [] {}), usage_error);
            EXPECT_THROW(rt.send_with_flow_control<take_bytes>(lossy, other, flow_policy::token, longest), usage_error);
            EXPECT_THROW(rt.send<take_bytes>(lossy, rank_id{2}, longest), usage_error);
            EXPECT_THROW(rt.send<take_bytes>(lossy, other, longer), usage_error);
            EXPECT_THROW(rt.send<take_bytes>(lossy, rt.rank(), longer), usage_error);
            EXPECT_THROW(rt.send<take_unwilling>(lossy, other, std::vector<unwilling>(3)), std::runtime_error);
            EXPECT_THROW(rt.send<take_bytes>(with{.deadline = 1, .reliable = false}, other, longest), usage_error);
            rt.send<take_bytes>(lossy, other, longest);
            rt.sleep(0.1).wait();
          }),
      0);
  EXPECT_EQ(all().came, 2 * (unreliable_bytes_max - 4));
}

TEST(unreliable, other_threads_send_them_too) {
  all().clear();
  EXPECT_EQ(run(job_of("inproc", 2),
                [](runtime& rt) {
                  submitter door = rt.submitter();
                  const auto object = rt.create<cell>();
                  std::thread other([&, door]() mutable {
                    door.send<take_bytes>(lossy, rank_id{0}, std::vector<std::byte>(3));
                    EXPECT_THROW(door.send<&cell::step>(lossy, object, 1), usage_error);
                    door.close();
                  });
                  door.close();
                  other.join();
                }),
            0);
  EXPECT_EQ(all().came, 6U);
}

void take_words(const std::string& word, std::vector<int> numbers, std::span<const int> more) {
  if (word != "both" || numbers != std::vector{1, 2, 3} || !std::equal(more.begin(), more.end(), numbers.begin())) {
    ++all().wrong;
  }
  ++all().came;
}

TEST(gather, fills_spans_and_vectors_of_reliable_messages_too) {
  for (const char* const transport : {"inproc", "sim"}) {
    all().clear();
    EXPECT_EQ(run(job_of(transport, 2),
                  [](runtime& rt) {
                    const std::array<int, 2> front{1, 2};
                    const std::vector<int> back{3}, none;
                    const auto three = gather(front, none, back);
                    rt.send<take_words>(to_all, "both", three, three);
                    rt.send<take_words>(lossy, to_all, "both", three, three);
                    rt.send(
                        to_all,
                        [](std::span<const int> numbers) {
                          if (std::vector(numbers.begin(), numbers.end()) != std::vector{1, 2, 3}) ++all().wrong;
                        },
                        three);
                    rt.sleep(0.02).wait();
                  }),
              0);
    EXPECT_EQ(all().came, 8U);
    EXPECT_EQ(all().wrong, 0U);
  }
}

}  // namespace
}  // namespace nacre::tests
