// SPDX-License-Identifier: Apache-2.0
// The wave detector on ranks that do nothing, and in each of its states.
#include "quiescence/wave_detector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "quiescence/storm_test_kit.hpp"

namespace nacre::quiescence {
namespace {

/// Ranks that are always idle, and a network that delivers at once and in order.
class still_machine {
 public:
  still_machine(std::uint32_t size, std::uint32_t arity, std::uint32_t previous = 0) {
    for (std::uint32_t r = 0; r < size; ++r) sites_.emplace_back(*this, rank_id{r}, size, arity, previous);
  }

  void ask(rank_id rank) {
    site& s = sites_[rank.value()];
    s.judge.request(s);
    settle(s);
    for (std::size_t steps = 0; !flying_.empty(); flying_.pop_front(), ++steps) {
      ASSERT_LT(steps, 100 * sites_.size()) << "waves without an end";
      auto [source, receiver, m] = flying_.front();
      site& target = sites_[receiver.value()];
      ASSERT_TRUE(target.judge.on_message(target, source, m));
      settle(target);
    }
  }
  [[nodiscard]] std::uint64_t declared(rank_id rank) const { return sites_[rank.value()].declared; }
  [[nodiscard]] std::uint64_t sent_max() const {
    return std::max_element(sites_.begin(), sites_.end(), [](auto& a, auto& b) { return a.sent < b.sent; })->sent;
  }
  [[nodiscard]] std::uint32_t waves() const { return sites_[0].judge.waves(); }

 private:
  struct site final : detector_host {
    site(still_machine& owner, rank_id rank, std::uint32_t size, std::uint32_t arity, std::uint32_t previous)
        : all(owner), self(rank), judge({.self = rank, .size = size, .arity = arity, .previous_number = previous}) {}
    void send(rank_id target, const detector_message& m) override {
      ++sent;
      all.flying_.push_back({self, target, m});
    }
    void declare(std::uint64_t last) override { declared = last; }

    still_machine& all;
    rank_id self;
    wave_detector judge;
    std::uint64_t declared = 0;
    std::uint64_t sent = 0;
  };
  struct flight {
    rank_id source;
    rank_id target;
    detector_message m;
  };

  static void settle(site& s) {
    if (s.judge.wants_counters()) s.judge.on_idle(s, {1, 1});
  }

  std::deque<site> sites_;
  std::deque<flight> flying_;
};

TEST(wave_detector, ten_thousand_ranks_need_two_waves_and_a_handful_of_messages_each) {
  constexpr std::uint32_t size = 10'000;
  still_machine machine(size, 4);
  machine.ask(rank_id{size - 1});
  EXPECT_EQ(machine.declared(rank_id{size - 1}), 1u);
  EXPECT_EQ(machine.declared(rank_id{0}), 0u) << "told though it has not asked";
  EXPECT_EQ(machine.waves(), 2u);
  EXPECT_LE(machine.sent_max(), 2 * (4 + 1) + 2u) << "two waves, a kick, a declaration";
}

TEST(wave_detector, a_lone_rank_needs_one_snapshot) {
  still_machine machine(1, 4);
  machine.ask(rank_id{0});
  EXPECT_EQ(machine.declared(rank_id{0}), 1u);
  EXPECT_EQ(machine.waves(), 1u);
}

TEST(wave_detector, the_numbers_of_waves_wrap) {
  still_machine machine(30, 3, ~std::uint32_t{0} - 3);
  for (std::uint64_t round = 1; round <= 5; ++round) {
    machine.ask(rank_id{29});
    machine.ask(rank_id{0});
    EXPECT_EQ(machine.declared(rank_id{29}), round);
    EXPECT_EQ(machine.declared(rank_id{0}), round);
  }
  EXPECT_LT(machine.waves(), 100u);
}

class mute_host final : public detector_host {
 public:
  void send(rank_id, const detector_message&) override { ++outputs; }
  void declare(std::uint64_t) override { ++outputs; }
  int outputs = 0;
};

TEST(wave_detector, takes_each_message_only_in_the_state_that_waits_for_it) {
  constexpr rank_id parent{0}, child{3}, sibling{2};
  mute_host host;
  wave_detector rank_1({.self = rank_id{1}, .size = 5, .arity = 2});
  const auto takes = [&](rank_id source, std::uint16_t kind, std::uint32_t wave) {
    return rank_1.on_message(host, source, {.wave = wave, .kind = kind});
  };
  EXPECT_FALSE(takes(child, answer, 0)) << "resting";
  EXPECT_FALSE(takes(parent, declared, 0)) << "nobody has asked";
  EXPECT_FALSE(takes(parent, kick, 0)) << "parents do not kick";
  EXPECT_FALSE(takes(sibling, probe, 1)) << "not the parent";
  EXPECT_FALSE(takes(parent, probe, 2)) << "a wave was skipped";
  EXPECT_EQ(host.outputs, 0);
  ASSERT_TRUE(takes(parent, probe, 1));
  EXPECT_FALSE(takes(parent, probe, 2)) << "the wave is not home yet";
  EXPECT_FALSE(takes(parent, declared, 1)) << "likewise";
  EXPECT_FALSE(takes(child, kick, 2)) << "no wave 2 has been there";
  EXPECT_TRUE(takes(child, kick, 0)) << "sent before the probe arrived";
  ASSERT_TRUE(takes(child, answer, 1));
  EXPECT_FALSE(takes(child, answer, 1)) << "twice";
  EXPECT_EQ(host.outputs, 2) << "two probes";
}

TEST(wave_detector, the_root_is_still_while_waves_find_open_units_and_no_change) {
  mute_host host;
  wave_detector root({.self = rank_id{0}, .size = 2});
  std::uint32_t wave = 0;
  const auto finds = [&](unit_counters own_counters, unit_counters other) {
    ++wave;
    root.on_idle(host, own_counters);
    ASSERT_TRUE(root.on_message(host, rank_id{1}, {.sums = other, .wave = wave, .kind = answer}));
  };
  root.request(host);
  finds({.created = 5, .done = 4}, {.created = 2, .done = 2});
  EXPECT_FALSE(root.still()) << "the first wave";
  finds({.created = 5, .done = 4}, {.created = 2, .done = 2});
  EXPECT_TRUE(root.still());
  finds({.created = 5, .done = 4}, {.created = 3, .done = 3});
  EXPECT_FALSE(root.still()) << "the other rank has run something";
  finds({.created = 5, .done = 4}, {.created = 3, .done = 3});
  EXPECT_TRUE(root.still());
  root.forget_still();
  EXPECT_FALSE(root.still()) << "no wave has found so since";
  finds({.created = 5, .done = 4}, {.created = 3, .done = 3});
  EXPECT_TRUE(root.still());
  finds({.created = 5, .done = 5}, {.created = 3, .done = 3});
  finds({.created = 5, .done = 5}, {.created = 3, .done = 3});
  EXPECT_FALSE(root.still()) << "it is quiet";
  EXPECT_FALSE(root.wants_counters()) << "declared";
}

TEST(wave_detector, held_units_answer_when_two_waves_agree_and_all_open_units_lie) {
  const auto outputs_of = [](std::initializer_list<unit_counters> others) {
    mute_host host;
    wave_detector root({.self = rank_id{0}, .size = 2});
    std::uint32_t wave = 0;
    root.request(host);
    const unit_counters own_counters{.created = 9, .done = 5, .lying = 4, .taken_up = 3};
    for (const unit_counters& other : others) {
      ++wave;
      root.on_idle(host, own_counters);
      EXPECT_TRUE(root.on_message(host, rank_id{1}, {.sums = other, .wave = wave, .kind = answer}));
    }
    return !root.wants_counters();  // it has been declared
  };
  const unit_counters lying{.created = 7, .done = 5, .lying = 2, .taken_up = 1};
  EXPECT_TRUE(outputs_of({lying, lying}));
  EXPECT_FALSE(outputs_of({lying})) << "one wave: what lies may have travelled while it went round";
  unit_counters other = lying;
  other.taken_up = 2;
  EXPECT_FALSE(outputs_of({other, lying})) << "an object has taken its messages up in between";
  other = lying;
  other.created = 8;
  EXPECT_FALSE(outputs_of({other, other})) << "one unit is open that does not lie";
  EXPECT_TRUE(outputs_of({other, other, lying, lying}));
}

TEST(wave_detector, every_request_is_answered_by_its_own_quiescence) {
  still_machine machine(7, 2);
  for (std::uint64_t round = 1; round <= 5; ++round) {
    for (std::uint32_t r = 0; r < 7; ++r) machine.ask(rank_id{r});
    for (std::uint32_t r = 0; r < 7; ++r) EXPECT_EQ(machine.declared(rank_id{r}), round);
  }
}

}  // namespace
}  // namespace nacre::quiescence
