// SPDX-License-Identifier: Apache-2.0
// What balancers may cost: steps in proportion to what they move, messages that wait their turn, objects half made.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

using settings = std::map<std::string, std::string>;

void run(const settings& options, const std::function<void(nacre::runtime&)>& main) {
  nacre::config configuration;
  for (const auto& [name, value] : options) configuration.set(name, value);
  EXPECT_EQ(nacre::run(configuration, main), 0);
}

struct grain {
  void work(nacre::context& ctx) { ctx.charge(10e-6); }
  template <class Archive>
  void serialize(Archive&) {}
};

/// Counts how often a balancer has looked at an object: the host asks the load model each time.
struct counting_model final : nacre::load_model {
  explicit counting_model(std::atomic<std::uint64_t>& target) : asked(target) {}
  [[nodiscard]] double load(const nacre::load_facts& load_facts) const override {
    ++asked;
    return load_facts.message_seconds * load_facts.messages;
  }
  std::atomic<std::uint64_t>& asked;
};

std::uint64_t looks_at_objects(const std::string& balancer, const std::string& scheduler, std::uint64_t objects) {
  std::atomic<std::uint64_t> asked{0};
  nacre::register_load_model("counting", [&](const nacre::config&) { return std::make_unique<counting_model>(asked); });
  run({{"transport", "sim"},
       {"ranks", "2"},
       {"balancer", balancer},
       {"scheduler", scheduler},
       {"balance.load", "counting"}},
      [&](nacre::runtime& rt) {
        for (std::uint64_t n = 0; rt.rank().value() == 0 && n < objects; ++n) {
          rt.send<&grain::work>(rt.create<grain>());
        }
      });
  return asked;
}

class proportionate_balancer : public testing::TestWithParam<const char*> {};

TEST_P(proportionate_balancer, looks_at_a_few_objects_for_each_that_there_is_however_many_there_are) {
  for (const char* scheduler : {"steal", "lifo", "shared", "priority"}) {
    const std::uint64_t few = looks_at_objects(GetParam(), scheduler, 2'000);
    const std::uint64_t many = looks_at_objects(GetParam(), scheduler, 16'000);
    EXPECT_LE(many, 50u * 16'000) << scheduler << ": a walk at each tick would be some thousands for each";
    EXPECT_LE(many, 16 * (few + 2'000)) << scheduler << ": eight times the objects";
  }
}

INSTANTIATE_TEST_SUITE_P(built_in, proportionate_balancer,
                         testing::Values("adaptive", "steal", "lifeline", "hierarchical", "diffusion", "gossip",
                                         "greedy_refine", "share", "master_worker"),
                         [](const auto& each) { return std::string(each.param); });

constexpr std::uint32_t letters = 2'000;

/// Rank 1 sends numbered bytes as fast as it can; rank 0 notes them, and each costs it more than its share of the time.
struct letters_balancer final : nacre::balancer {
  explicit letters_balancer(std::vector<std::uint32_t>& values, std::atomic<std::uint32_t>& count)
      : read(values), arrived(count) {}
  void on_tick(nacre::balancer_host& host) override {
    for (int n = 0; host.rank().value() == 1 && n < 100 && sent < letters; ++n) {
      host.send(nacre::rank_id{0}, nacre::pack(sent++));
    }
  }
  void on_message(nacre::balancer_host& host, nacre::rank_id, std::span<const std::byte> bytes) override {
    const double until = host.now() + 20e-6;
    while (host.now() < until) continue;
    read.push_back(nacre::unpack<std::uint32_t>(bytes).value());
    arrived = static_cast<std::uint32_t>(read.size());
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  std::vector<std::uint32_t>& read;
  std::atomic<std::uint32_t>& arrived;
  std::uint32_t sent = 0;
};

/// Keeps its rank busy until all have come.
struct busy {
  std::atomic<std::uint32_t>* arrived = nullptr;
  void turn(nacre::context& ctx) {
    if (*arrived != letters) ctx.send<&busy::turn>(ctx.self<busy>());
  }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(messages_of_balancers, that_cost_a_busy_rank_more_than_its_share_wait_in_their_order_and_all_come) {
  std::vector<std::uint32_t> read, all;
  std::atomic<std::uint32_t> arrived{0};
  nacre::register_balancer("letters_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<letters_balancer>(read, arrived); });
  run({{"ranks", "2"}, {"workers", "1"}, {"balancer", "letters_of_the_test"}, {"balance.time_share", "0.25"}},
      [&](nacre::runtime& rt) {
        if (rt.rank().value() == 0) rt.send<&busy::turn>(rt.create<busy>(&arrived));
        rt.wait_quiescence();
      });
  for (std::uint32_t n = 0; n < letters; ++n) all.push_back(n);
  EXPECT_EQ(read, all);
}

/// What rank 1 has sent and rank 0 has not read; one thread runs both.
struct flood {
  std::uint32_t sent = 0, read = 0, waiting_max = 0;
  bool in_order = true;
};

/// Rank 1 sends more than rank 0 may read in its share of the time.
struct flood_balancer final : nacre::balancer {
  explicit flood_balancer(flood& flood) : seen(flood) {}
  void on_tick(nacre::balancer_host& host) override {
    for (int n = 0; host.rank().value() == 1 && n < 10 && seen.sent < letters; ++n) {
      host.send(nacre::rank_id{0}, nacre::pack(seen.sent++));
    }
  }
  void on_message(nacre::balancer_host&, nacre::rank_id, std::span<const std::byte> bytes) override {
    seen.waiting_max = std::max(seen.waiting_max, seen.sent - seen.read);
    seen.in_order = seen.in_order && nacre::unpack<std::uint32_t>(bytes).value() == seen.read;
    ++seen.read;
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
  flood& seen;
};

struct busy_for_a_while {
  void turn(nacre::context& ctx, std::uint32_t left) {
    ctx.charge(10e-6);
    if (left != 0) ctx.send<&busy_for_a_while::turn>(ctx.self<busy_for_a_while>(), left - 1);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

TEST(messages_of_balancers, that_are_a_flood_are_read_as_they_come_once_some_wait) {
  flood seen;
  nacre::register_balancer("flood_of_the_test",
                           [&](const nacre::config&) { return std::make_unique<flood_balancer>(seen); });
  run({{"transport", "sim"},
       {"ranks", "2"},
       {"workers", "1"},
       {"balancer", "flood_of_the_test"},
       {"sim.cost.look", "20us"},
       {"balance.time_share", "0.001"}},
      [&](nacre::runtime& rt) {
        if (rt.rank().value() == 0) rt.send<&busy_for_a_while::turn>(rt.create<busy_for_a_while>(), 20'000U);
        rt.wait_quiescence();
      });
  EXPECT_EQ(seen.sent, letters);
  EXPECT_GE(seen.read, letters - 64) << "the last ones wait for the account";
  EXPECT_TRUE(seen.in_order);
  EXPECT_GE(seen.waiting_max, 64u) << "they wait first";
  EXPECT_LE(seen.waiting_max, 256u) << "these, and some that are under way";
}

std::atomic<int> greedy_ticks{0};

/// Sends away whatever it sees.
struct greedy final : nacre::balancer {
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0) return;
    const auto seen = host.local_loads();
    for (const nacre::object_load& each : std::vector(seen.begin(), seen.end())) {
      host.migrate(each.object, nacre::rank_id{1});
    }
    ++greedy_ticks;
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
};

/// Is not ready before a balancer has had the time to take it away.
struct slow_to_make {
  int value = 7;
  [[nodiscard]] double load() const { return 1; }
  [[nodiscard]] double priority() const {
    const int enough = greedy_ticks + 3;
    for (int look = 0; look < 20'000'000 && greedy_ticks < enough; ++look) continue;
    return value;
  }
  [[nodiscard]] bool may_migrate() const { return value == 7; }
  int get() const { return value; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};

TEST(creating, is_complete_before_a_balancer_takes_the_object_away) {
  nacre::register_balancer("greedy_of_the_test", [](const nacre::config&) { return std::make_unique<greedy>(); });
  int sum = 0;
  run({{"ranks", "2"}, {"workers", "2"}, {"balancer", "greedy_of_the_test"}, {"balance.time_share", "1"}},
      [&](nacre::runtime& rt) {
        for (int n = 0; rt.rank().value() == 0 && n < 9; ++n) {
          sum += rt.call<&slow_to_make::get>(rt.create<slow_to_make>()).get();
        }
      });
  EXPECT_EQ(sum, 9 * 7);
}

/// What a test and its objects know of each other: the object is asked for its load, a balancer has sent it away.
enum class wish : std::uint8_t { none, awaited, made };
std::atomic<wish> made_wish{wish::none};
std::atomic<std::uint64_t> wished{0};

bool wait_for(const std::function<bool()>& action, std::chrono::seconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (!action() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return action();
}

struct wishing final : nacre::balancer {
  void on_tick(nacre::balancer_host& host) override {
    if (host.rank().value() != 0 || made_wish != wish::awaited) return;
    host.migrate(nacre::object_id::from_value(wished), nacre::rank_id{1});
    made_wish = wish::made;
  }
  [[nodiscard]] bool observes_loads() const override { return false; }
};

/// Says its load only when a balancer has wished it away meanwhile: after its last message has run, nothing comes.
struct thoughtful {
  bool thinks = false;
  void think() { thinks = true; }
  [[nodiscard]] double load() const {
    if (thinks && made_wish == wish::none) {
      made_wish = wish::awaited;
      wait_for([] { return made_wish == wish::made; }, std::chrono::seconds(10));
    }
    return 1;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(thinks);
  }
};

TEST(wishes, that_come_when_all_messages_of_the_object_have_run_are_fulfilled_without_another) {
  nacre::register_balancer("wishing_of_the_test", [](const nacre::config&) { return std::make_unique<wishing>(); });
  made_wish = wish::none;
  bool moved = false;
  run({{"ranks", "2"}, {"workers", "2"}, {"balancer", "wishing_of_the_test"}, {"balance.time_share", "1"}},
      [&](nacre::runtime& rt) {
        const bool first = rt.rank().value() == 0;
        const auto object =
            rt.broadcast(first ? rt.create<thoughtful>() : nacre::mobile_ptr<thoughtful>(), nacre::rank_id{0});
        if (first) {
          wished = object.id().value();
          rt.send<&thoughtful::think>(object);
        } else {
          moved = wait_for([&] { return rt.is_local(object); }, std::chrono::seconds(10));
        }
        rt.barrier();
      });
  EXPECT_EQ(made_wish, wish::made);
  EXPECT_TRUE(moved);
}

}  // namespace
