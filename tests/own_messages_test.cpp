// SPDX-License-Identifier: Apache-2.0
// Messages of a rank to its own objects, ends of objects among them: how deep, how many at once, and on which thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <nacre/nacre.hpp>

#include "base/sanitized.hpp"

namespace nacre::tests {
namespace {

config with(const char* transport, const char* ranks, const char* workers) {
  config configuration;
  configuration.set("transport", transport);
  configuration.set("ranks", ranks);
  configuration.set("workers", workers);
  configuration.set("balancer", "none");
  return configuration;
}

/// An element that ends and begins again while it runs, so that each turn finds the next one's messages.
struct phoenix {
  std::uint64_t left = 0;

  void burn(context& ctx, const array_ptr<phoenix>& all, std::uint64_t lives) {
    const index index{0};
    if (lives == 0) {  // what ends it is on its way
      static_cast<void>(ctx.insert(all, index, lives));
      return;
    }
    ctx.destroy(all[index]);
    static_cast<void>(ctx.insert(all, index, lives - 1));
    ctx.send<&phoenix::burn>(all[index], all, lives - 1);
    ctx.destroy(all[index]);
  }
  std::uint64_t seen() const { return left; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(left);
  }
};

class own_messages : public testing::TestWithParam<const char*> {};

TEST_P(own_messages, an_element_that_ends_and_begins_again_any_number_of_times_takes_no_stack_for_it) {
  const std::uint64_t lives = sanitized ? 2'000 : 100'000;
  std::uint64_t left = lives;
  EXPECT_EQ(run(with(GetParam(), "1", "1"),
                [&](runtime& rt) {
                  rt.on_delivery_error([](const delivery_error&) {});
                  const auto all = rt.create_array<phoenix>(extents{1}, [&](index) { return phoenix{lives}; });
                  rt.send<&phoenix::burn>(all[{0}], all, lives);
                  rt.wait_quiescence();
                  left = rt.call<&phoenix::seen>(all[{0}]).get();
                }),
            0);
  EXPECT_EQ(left, 0u);
}

INSTANTIATE_TEST_SUITE_P(over, own_messages, testing::Values("inproc", "sim"),
                         [](const auto& each) { return std::string(each.param); });

/// Counts on its way what main has not been told of.
std::atomic<std::uint64_t> run_by_all{0};
struct drain {
  void take(std::uint64_t) { run_by_all.fetch_add(1, std::memory_order_relaxed); }  // one thread
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(own_messages_of_main, that_come_faster_than_they_run_slow_it_down_on_a_simulated_rank) {
  constexpr std::uint64_t messages = 200'000;
  config configuration = with("sim", "1", "1");
  configuration.set("receive_memory", "256KiB");
  configuration.set("send_memory", "256KiB");
  run_by_all = 0;
  std::uint64_t most = 0;
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  const auto sink = rt.create<drain>();
                  for (std::uint64_t sent = 1; sent <= messages; ++sent) {
                    rt.send<&drain::take>(sink, sent);
                    most = std::max(most, sent - run_by_all.load());
                  }
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_EQ(run_by_all.load(), messages);
  EXPECT_LE(most, 8'192u) << "256 KiB are 4,096 of 64 bytes";
}

/// What the threads of the next test tell each other.
struct meeting_point {
  std::atomic<bool> expected{false};  ///< main of rank 1 has left the poll loop to others
  std::atomic<bool> arriving{false};  ///< the object has come to rank 1, and the poll loop is in its load()
  std::atomic<bool> pushed{false};    ///< rank 1 has sent it its last messages
  std::atomic<bool> answered{false};  ///< a message of rank 0 has come to rank 1, while the handler waits for it
  std::atomic<int> waited{0};         ///< 1: the answer came; 2: it did not
};
meeting_point* at_meeting = nullptr;

template <class Until>
bool wait_for(const Until& until, std::chrono::seconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  while (!until()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

void answer(context&) { at_meeting->answered = true; }
void ask(context& ctx) { ctx.send<answer>(ctx.source()); }

/// Its load keeps whoever installs it until more has been sent to it.
struct guest {
  bool travelled = false;

  double load() const {
    if (travelled && !at_meeting->arriving.exchange(true)) {
      EXPECT_TRUE(wait_for([] { return at_meeting->pushed.load(); }, std::chrono::seconds(10)));
    }
    return 1;
  }
  /// Needs the poll loop of its rank.
  void linger(context& ctx) {
    ctx.send<ask>(rank_id(0));
    at_meeting->waited = wait_for([] { return at_meeting->answered.load(); }, std::chrono::seconds(5)) ? 1 : 2;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(travelled);
    travelled = true;
  }
};

TEST(own_messages_of_main, to_an_object_that_arrives_and_ends_at_once_do_not_run_in_the_poll_loop) {
  meeting_point point;
  at_meeting = &point;
  EXPECT_EQ(run(with("inproc", "2", "2"),
                [&](runtime& rt) {
                  mobile_ptr<guest> one;
                  if (rt.rank() == rank_id(0)) one = rt.create<guest>();
                  one = rt.broadcast(one, rank_id(0));
                  if (rt.rank() == rank_id(0)) {
                    EXPECT_TRUE(wait_for([&] { return point.expected.load(); }, std::chrono::seconds(10)));
                    static_cast<void>(rt.migrate(one, rank_id(1)));
                  } else {
                    point.expected = true;
                    EXPECT_TRUE(wait_for([&] { return point.arriving.load(); }, std::chrono::seconds(10)));
                    rt.send<&guest::linger>(one);
                    rt.destroy(one);
                    point.pushed = true;
                  }
                  rt.wait_quiescence();
                }),
            0);
  EXPECT_TRUE(point.pushed);
  EXPECT_EQ(point.waited, 1) << "the poll loop ran a handler that waits for a message";
}

/// Has what nobody else has, so that others see when it ends.
struct mortal {
  std::shared_ptr<int> life{};

  void end_itself(context& ctx) { ctx.destroy(ctx.self<mortal>()); }
  void end_later(context& ctx, mobile_ptr<mortal> other) {
    ctx.charge(1e-3);
    ctx.destroy(other);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

/// Makes another's handler ready and then its own, which looks whether that has ended an object.
struct onlooker {
  std::weak_ptr<int> life{};
  bool* seen = nullptr;

  void begin(context& ctx, bool itself, mobile_ptr<mortal> first, mobile_ptr<mortal> other) {
    if (itself) {
      ctx.send<&mortal::end_itself>(first);
    } else {
      ctx.send<&mortal::end_later>(first, other);
    }
    ctx.send<&onlooker::look>(ctx.self<onlooker>());
  }
  void look(context&) { *seen = life.expired(); }
  template <class Archive>
  void serialize(Archive&) {}
};

bool has_ended_when_the_next_one_runs(const char* transport, bool itself) {
  bool seen = false;
  config configuration = with(transport, "1", "1");
  configuration.set("scheduler", "fifo");
  EXPECT_EQ(run(configuration,
                [&](runtime& rt) {
                  auto life = std::make_shared<int>(1);
                  const std::weak_ptr<int> look_at = life;
                  const auto first = rt.create<mortal>(itself ? std::move(life) : nullptr);
                  const auto other = rt.create<mortal>(std::move(life));
                  rt.send<&onlooker::begin>(rt.create<onlooker>(look_at, &seen), itself, first, other);
                  rt.wait_quiescence();
                }),
            0);
  return seen;
}

TEST_P(own_messages, an_object_that_ends_itself_has_ended_when_the_next_one_runs) {
  EXPECT_TRUE(has_ended_when_the_next_one_runs(GetParam(), true));
}

TEST(own_messages_of_a_handler, that_end_an_idle_object_do_so_when_its_time_is_over_before_the_next_one_runs) {
  EXPECT_TRUE(has_ended_when_the_next_one_runs("sim", false));
}

struct purse {
  std::uint64_t coins = 100;

  std::uint64_t left() const { return coins; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(coins);
  }
};

void pay(context&, purse& source, purse& target) {
  --source.coins;
  ++target.coins;
}

/// A rank's news to itself must not wait for a thread that polls: with one worker, each step cost a thread's sleep.
TEST(own_messages_of_colocations, take_no_way_through_the_poll_loop) {
  EXPECT_EQ(run(with("inproc", "1", "1"),
                [](runtime& rt) {
                  const auto source = rt.create<purse>(), target = rt.create<purse>();
                  const std::uint64_t previous = rt.counters().messages_sent;
                  for (int each = 0; each < 50; ++each) rt.colocate<pay>(source, target);
                  EXPECT_EQ(rt.call<&purse::left>(target).get(), 150U);
                  EXPECT_EQ(rt.call<&purse::left>(source).get(), 50U);
                  EXPECT_EQ(rt.counters().messages_sent, previous);
                }),
            0);
}

}  // namespace
}  // namespace nacre::tests
