// SPDX-License-Identifier: Apache-2.0
// The default balancer on ranks with objects that step, each step as long as the work of the busiest rank.
#include "balance/balancer/adaptive_balancer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "balance/balancer/balancer_test_host.hpp"
#include "base/sanitized.hpp"

namespace nacre::balance {
namespace {

constexpr std::byte look_kind{66};   // the first byte of a message that asks for a report
constexpr std::byte steal_kind{69};  // the first byte of a message after which nobody plans

struct stepping_options {
  std::uint32_t ranks = 4;
  std::uint32_t workers = 1;  // of a rank
  double latency = 5e-6;
  bool stays = false;                                            // no object may leave
  double overhead = 0;                                           // of a step, in which no handler runs
  std::function<double(std::uint64_t object, int step)> cost{};  // of an object in a step
};

/// Ranks; the objects of all ranks run once in each step, which ends when the last has.
class stepping_machine {
 public:
  explicit stepping_machine(stepping_options options) : options_(std::move(options)) {
    for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) sites_.emplace_back(*this, rank_id{rank});
  }

  void add(std::uint32_t rank, std::uint64_t object) { sites_[rank].objects.push_back(object); }
  void step() {
    double longest = 0;
    for (site& each : sites_) {
      each.busy = 0;
      for (const std::uint64_t object : each.objects) {
        const double cost = options_.cost(object, steps_);
        each.rows.emplace_back(object, cost);
        each.busy += cost / options_.workers;
      }
      longest = std::max(longest, each.busy);
    }
    const double begin = now_, end = now_ + longest + options_.overhead;
    for (constexpr double tick = 10e-6; now_ < end; now_ += tick) {
      deliver();
      for (site& each : sites_) {
        each.is_busy = now_ - begin < each.busy;
        each.policy.on_tick(each);
      }
    }
    now_ = end;
    ++steps_;
    for (auto& [object, target] : std::exchange(flying_, {})) sites_[target.value()].objects.push_back(object);
  }
  void run(int count) {
    while (count-- > 0) step();
  }
  /// All objects end, and for so long nothing happens.
  void pause(double seconds) {
    for (site& each : sites_) each.objects.clear();
    now_ += seconds;
  }
  /// The work of the busiest rank in a step / that of all ranks on average.
  [[nodiscard]] double imbalance() const {
    double most = 0, sum = 0;
    for (const site& each : sites_) {
      double load = 0;
      for (const std::uint64_t object : each.objects) load += options_.cost(object, steps_);
      most = std::max(most, load);
      sum += load;
    }
    return most * options_.ranks / sum;
  }
  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] std::size_t objects() const {
    std::size_t count = flying_.size();
    for (const site& each : sites_) count += each.objects.size();
    return count;
  }

  std::uint64_t moves = 0, messages = 0;
  std::uint64_t steals = 0;  // messages by which plans are given up
  std::uint64_t looks = 0;   // messages by which rank 0 asks the others
  bool forges = false;       // random bytes arrive at every tick

 private:
  struct site final : balancer_host, work_observer {
    site(stepping_machine& owner, rank_id named) : all(owner), self(named), stream(named.value() + 1) {}
    [[nodiscard]] rank_id rank() const noexcept override { return self; }
    [[nodiscard]] std::uint32_t size() const noexcept override { return all.options_.ranks; }
    [[nodiscard]] rank_load summary() override { return {.waiting = is_busy ? 1U : 0U, .running = is_busy ? 1U : 0U}; }
    [[nodiscard]] std::span<const object_load> candidates(std::size_t, candidate_kind) override { return {}; }
    [[nodiscard]] std::optional<object_load> load_of(object_id object) override {
      const bool here = std::find(objects.begin(), objects.end(), object.index()) != objects.end();
      return here && !all.options_.stays ? std::optional(object_load{.object = object}) : std::nullopt;
    }
    [[nodiscard]] std::span<const object_load> local_loads() override { return {}; }
    [[nodiscard]] double total_load() override { return 0; }
    [[nodiscard]] work_observer* observed() override { return this; }
    void begin_window(bool) override {
      rows.clear();
      began = all.now_;
    }
    [[nodiscard]] work_window window() override {
      work_window known{
          .length = all.now_ - began, .active = all.now_ - began, .objects = objects.size(), .steps = rows.size()};
      for (const auto& [object, seconds] : rows) known.seconds += seconds;
      return known;
    }
    [[nodiscard]] lasting_work lasting() override {
      constexpr std::size_t sample = 256;
      return {.objects = std::min(objects.size(), sample),
              .steps = objects.empty() ? 0 : static_cast<double>(rows.size()) / static_cast<double>(objects.size())};
    }
    [[nodiscard]] worked_objects worked(std::size_t most) override {
      found.clear();
      double sum = 0;
      for (const std::uint64_t object : objects) {
        double seconds = 0;
        for (const auto& [other, cost] : rows) seconds += other == object ? cost : 0;
        sum += seconds;
        if (!all.options_.stays) found.push_back({.object = object_id(rank_id{0}, object), .load = seconds});
      }
      std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.load > b.load; });
      found.resize(std::min(found.size(), most));
      return {.seconds = sum, .objects = objects.size(), .movable = found};
    }
    [[nodiscard]] std::uint32_t workers() const override { return all.options_.workers; }
    [[nodiscard]] std::uint32_t idle_workers() const override { return is_busy ? 0 : workers(); }
    void send(rank_id target, std::span<const std::byte> bytes) override {
      ++all.messages;
      if (!bytes.empty() && bytes[0] == steal_kind) ++all.steals;
      if (!bytes.empty() && bytes[0] == look_kind) ++all.looks;
      all.letters_.push_back({all.now_ + all.options_.latency, self, target, {bytes.begin(), bytes.end()}});
    }
    void migrate(object_id object, rank_id target) override {
      std::erase(objects, object.index());
      all.flying_.emplace_back(object.index(), target);
      ++all.moves;
    }
    [[nodiscard]] nacre::rng& rng() override { return stream; }
    [[nodiscard]] double now() const override { return all.now_; }

    stepping_machine& all;
    rank_id self;
    adaptive_balancer policy{{}};
    nacre::rng stream;
    std::vector<std::uint64_t> objects;
    std::vector<std::pair<std::uint64_t, double>> rows;
    std::vector<object_load> found;
    double began = 0, busy = 0;
    bool is_busy = false;
  };
  struct letter {
    double arrival;
    rank_id source, target;
    std::vector<std::byte> bytes;
  };

  void deliver() {
    if (forges) {
      std::vector<std::byte> junk(random_.below(40));
      for (std::byte& each : junk) each = std::byte(random_.below(256));
      if (!junk.empty()) junk[0] = std::byte(64 + random_.below(6));  // the kinds of this balancer
      site& target = sites_[random_.below(options_.ranks)];
      target.policy.on_message(target, rank_id{static_cast<std::uint32_t>(random_.below(options_.ranks + 1))}, junk);
    }
    while (!letters_.empty() && letters_.front().arrival <= now_) {
      const letter next = std::move(letters_.front());
      letters_.pop_front();
      site& target = sites_[next.target.value()];
      target.policy.on_message(target, next.source, next.bytes);
    }
  }

  stepping_options options_;
  std::deque<site> sites_;
  std::deque<letter> letters_;
  std::vector<std::pair<std::uint64_t, rank_id>> flying_;
  rng random_{17};
  double now_ = 0;
  int steps_ = 0;
};

double mixed(std::uint64_t object, int) { return static_cast<double>(10 + object * 7 % 40) * 1e-6; }

TEST(adaptive_balancer, balances_objects_that_step_and_then_leaves_them) {
  stepping_machine machine({.cost = mixed});
  for (std::uint64_t object = 1; object <= 48; ++object) machine.add(object <= 30 ? 0 : 1 + object % 3, object);
  ASSERT_GT(machine.imbalance(), 2);
  machine.run(100);
  EXPECT_LT(machine.imbalance(), 1.06);
  const std::uint64_t moves = machine.moves, messages = machine.messages;
  machine.run(2000);
  EXPECT_EQ(machine.moves, moves);
  EXPECT_LT(machine.messages - messages, 2000U);
  EXPECT_EQ(machine.objects(), 48U);
}

TEST(adaptive_balancer, sees_objects_step_however_many_workers_a_rank_has) {
  stepping_machine machine({.ranks = 2, .workers = 200, .cost = mixed});
  for (std::uint64_t object = 1; object <= 1200; ++object) machine.add(object <= 900 ? 0 : 1, object);
  ASSERT_GT(machine.imbalance(), 1.4);
  machine.run(100);
  EXPECT_LT(machine.imbalance(), 1.2);
}

TEST(adaptive_balancer, follows_work_that_drifts) {
  const auto drifting = [](std::uint64_t object, int step) {
    const int hot = step / 100 % 48;
    return (std::abs(static_cast<int>(object) - hot) < 6 ? 80e-6 : 10e-6);
  };
  stepping_machine machine({.cost = drifting});
  for (std::uint64_t object = 0; object < 48; ++object)
    machine.add(static_cast<std::uint32_t>(object / 12), object + 1);
  machine.run(300);
  const double begin = machine.now();
  machine.run(2000);
  const double ideal = (11 * 80e-6 + 37 * 10e-6) / 4;  // of a step
  EXPECT_LT((machine.now() - begin) / (2000 * ideal), 1.5);
}

TEST(adaptive_balancer, gives_up_where_nothing_can_move_and_tries_ever_more_rarely) {
  stepping_machine machine({.stays = true, .cost = mixed});
  for (std::uint64_t object = 1; object <= 48; ++object) machine.add(object <= 30 ? 0 : 1 + object % 3, object);
  machine.run(12000);
  EXPECT_EQ(machine.moves, 0U);
  EXPECT_GE(machine.steals, 2U * 3) << "to three others each time";
  EXPECT_LE(machine.steals, 3U * 3) << "each pause is twice as long as the one before";
}

TEST(adaptive_balancer, counts_only_ranks_that_step_at_one_time) {
  for (const double pause : {0.0, 30.0}) {
    stepping_machine machine({.cost = mixed});
    for (std::uint64_t object = 1; object <= 20; ++object) machine.add(1, object);
    machine.run(300);
    EXPECT_EQ(machine.looks, 0U) << "one of four is no half";
    machine.pause(pause);
    for (std::uint64_t object = 21; object <= 40; ++object) machine.add(2, object);
    machine.run(300);
    EXPECT_EQ(machine.looks == 0, pause > 0);
  }
}

TEST(adaptive_balancer, leaves_a_program_alone_whose_handlers_hardly_work) {
  stepping_machine machine({.overhead = 100e-3, .cost = mixed});
  for (std::uint64_t object = 1; object <= 48; ++object) machine.add(object <= 30 ? 0 : 1 + object % 3, object);
  machine.run(30);
  EXPECT_EQ(machine.moves, 0U);
}

TEST(adaptive_balancer, survives_any_bytes_of_its_kinds) {
  for (int seed = 1; seed <= (tests::sanitized ? 2 : 10); ++seed) {
    stepping_machine machine({.ranks = static_cast<std::uint32_t>(1 + seed), .cost = mixed});
    machine.forges = true;
    for (std::uint64_t object = 1; object <= 24; ++object) machine.add(0, object);
    machine.run(200);
    EXPECT_EQ(machine.objects(), 24U);
  }
}

}  // namespace
}  // namespace nacre::balance
