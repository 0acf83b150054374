// SPDX-License-Identifier: Apache-2.0
// Steps of contributions against a plain account of which places have given values, over a tree of ranks.
#include "mobile/array/contribution_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/rng.hpp>

#include "am/rank_tree.hpp"
#include "base/sanitized.hpp"
#include "mobile/array/value_messages.hpp"

namespace nacre {
namespace {

contribution_head head_of_step(std::uint64_t step, std::uint32_t row = 1, std::uint32_t handler = 5) {
  return {.first = 1, .step = step, .handler = handler, .row = row, .kind = 0, .target = 1};
}

using numbers = std::vector<std::uint64_t>;

/// The lists of places that have given values, as the values of steps: combining appends.
numbers all_places(const std::vector<std::span<const std::byte>>& values) {
  numbers all;
  for (const auto each : values) {
    const numbers some = unpack<numbers>(each).value();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

TEST(rank_tree, has_each_rank_once_below_a_parent_that_lists_it) {
  for (const std::uint32_t ranks : {1U, 2U, 5U, 6U, 17U, 64U, 333U}) {
    std::uint32_t listed = 1;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::uint32_t next = rank + 1;
      for (const rank_run& child : place_in_tree(rank, ranks).children) {
        EXPECT_EQ(child.begin, next);
        EXPECT_EQ(place_in_tree(child.begin, ranks).parent, rank);
        next = child.end;
        ++listed;
      }
    }
    EXPECT_EQ(listed, ranks);
  }
}

/// Ranks with their messages in one queue for each pair, delivered at random.
class small_job {
 public:
  small_job(std::uint32_t ranks, std::uint64_t seed, bool asked) : random_(seed) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      trees_.push_back(place_in_tree(rank, ranks));
      steps_.push_back(std::make_unique<contribution_steps>(trees_.back().children.size(), asked));
    }
  }
  contribution_steps& at(std::uint32_t rank) { return *steps_[rank]; }
  rng& random() { return random_; }

  void apply(std::uint32_t rank, contribution_steps::effects then) {
    for (const auto& [child, head] : then.to_ask) {
      const std::uint32_t target = trees_[rank].children[child].begin;
      post(rank, target, [this, target, head = head] {
        contribution_steps::effects next;
        EXPECT_EQ(at(target).ask(head, next), contribution_steps::refusal::none);
        apply(target, std::move(next));
      });
    }
    if (then.wants && rank != 0)
      to_parent(rank,
                [](contribution_steps& parent, std::size_t child, auto& next) { parent.child_wants(child, next); });
    for (auto& own_values : then.to_combine) {
      post(rank, rank, [this, rank, head = own_values.head, sum = pack(all_places(own_values.in_order()))] {
        contribution_steps::effects next;
        at(rank).combined(head, sum, next);
        apply(rank, std::move(next));
      });
    }
    for (auto& each : then.finished) finish(rank, each);
  }
  /// Delivers messages until none is left, or so many.
  void run(std::size_t most = ~std::size_t{0}) {
    for (; most > 0 && !queues_.empty(); --most) {
      auto chosen = std::next(queues_.begin(), static_cast<std::ptrdiff_t>(random_.below(queues_.size())));
      const auto action = std::move(chosen->second.front());
      chosen->second.pop_front();
      if (chosen->second.empty()) queues_.erase(chosen);
      action();
    }
  }
  void post(std::uint32_t source, std::uint32_t target, std::function<void()> action) {
    queues_[{source, target}].push_back(std::move(action));
  }
  std::map<std::uint64_t, numbers> results;

 private:
  template <class Action>
  void to_parent(std::uint32_t rank, Action action) {
    const std::uint32_t parent = trees_[rank].parent;
    std::size_t child = 0;
    while (trees_[parent].children[child].begin != rank) ++child;
    post(rank, parent, [this, parent, child, action] {
      contribution_steps::effects next;
      action(at(parent), child, next);
      apply(parent, std::move(next));
    });
  }
  void finish(std::uint32_t rank, const contribution_steps::finished_step& step) {
    const numbers sum = all_places({step.values.begin(), step.values.end()});
    if (rank == 0) {
      EXPECT_TRUE(results.emplace(step.head.step, sum).second) << "twice";
      return;
    }
    to_parent(rank, [head = step.head, sum](contribution_steps& parent, std::size_t child, auto& next) {
      const std::optional<packed_value> value = sum.empty() ? std::nullopt : std::optional(pack(sum));
      EXPECT_EQ(parent.take_part(child, head, value, next, contribution_steps::no_place),
                contribution_steps::refusal::none);
    });
  }

  rng random_;
  std::vector<tree_place> trees_;
  std::vector<std::unique_ptr<contribution_steps>> steps_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::function<void()>>> queues_;
};

/// Elements give values at home or by messages that others overtake, and end with values under way.
class random_array {
 public:
  random_array(std::uint32_t ranks, std::uint64_t seed, bool sparse) : job_(ranks, seed, sparse), ranks_(ranks) {
    for (std::uint64_t place = 0; place < places; ++place) {
      if (sparse && job_.random().below(2) == 0) continue;
      come(place);
    }
    if (lives_.empty()) come(0);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      act(rank, [](auto& position, auto& then) { position.begin(then); });
  }
  void run_step(std::uint64_t step) {
    numbers order;
    for (const auto& [place, life] : lives_) order.push_back(place);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[job_.random().below(i)]);
    numbers given;
    for (const std::uint64_t place : order) {
      const bool ends = given.size() > 0 && job_.random().below(6) == 0;
      if (!ends || job_.random().below(2) == 0) {
        give(place, step);
        given.push_back(place);
      }
      if (ends) end(place);
      job_.run(job_.random().below(4));
    }
    job_.run();
    std::sort(given.begin(), given.end(),
              [&](std::uint64_t a, std::uint64_t b) { return std::pair(home(a), a) < std::pair(home(b), b); });
    EXPECT_EQ(job_.results[step], given) << "step " << step;
    for (std::uint64_t place = 0; place < places; ++place) {
      if (!lives_.contains(place) && job_.random().below(4) == 0) come(place);
    }
    if (lives_.empty()) come(job_.random().below(places));
  }

 private:
  static constexpr std::uint64_t places = 23;
  struct life {
    std::uint32_t sent = 0;
  };
  std::uint32_t home(std::uint64_t place) const { return static_cast<std::uint32_t>(place * ranks_ / places); }
  template <class Action>
  void act(std::uint32_t rank, Action action) {
    contribution_steps::effects then;
    action(job_.at(rank), then);
    job_.apply(rank, std::move(then));
  }
  bool is_here(std::uint64_t place) const { return lives_.contains(place); }
  void come(std::uint64_t place) {
    lives_[place] = {};
    ++epochs_[place];
    job_.at(home(place)).element_came(place);
  }
  void end(std::uint64_t place) {
    const bool unsettled = messages_[home(place)].ended(place, lives_[place].sent, ++epochs_[place]);
    lives_.erase(place);
    if (unsettled) job_.at(home(place)).add_unsettled(1);
    act(home(place), [&](auto& position, auto& then) { position.element_ended(place, then); });
  }
  void give(std::uint64_t place, std::uint64_t step) {
    const auto taken = [=, this](contribution_steps& contribution_steps, auto& then) {
      EXPECT_EQ(contribution_steps.give({place, is_here(place)}, head_of_step(step), pack(numbers{place}), then),
                contribution_steps::refusal::none);
    };
    const std::uint32_t target = home(place);
    if (job_.random().below(2) == 0) return act(target, taken);
    ++lives_[place].sent;
    const auto source = static_cast<std::uint32_t>(job_.random().below(ranks_));
    job_.post(source, target, [this, place, target, epoch = epochs_[place], taken] {
      act(target, taken);
      if (messages_[target].came(place, epoch)) act(target, [](auto& position, auto& then) { position.settled(then); });
    });
  }

  small_job job_;
  std::uint32_t ranks_;
  std::map<std::uint64_t, life> lives_;
  std::map<std::uint64_t, std::uint32_t> epochs_;
  std::map<std::uint32_t, value_messages> messages_;  // by home
};

TEST(contribution_steps, have_every_value_once_in_order_however_elements_come_and_go) {
  for (std::uint64_t seed = 1; seed <= tests::rounds_in_one_thread(300); ++seed) {
    random_array under_test(static_cast<std::uint32_t>(1 + seed % 19), seed, seed % 3 == 0);
    for (std::uint64_t step = 0; step < 12; ++step) under_test.run_step(step);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(contribution_steps, refuse_values_that_do_not_fit) {
  contribution_steps under_test(0, false);
  contribution_steps::effects then;
  for (const std::uint64_t place : {3U, 4U}) under_test.element_came(place);
  using refusal = contribution_steps::refusal;
  EXPECT_EQ(under_test.give({3, true}, head_of_step(7), {}, then), refusal::none);
  EXPECT_EQ(under_test.give({3, true}, head_of_step(7), {}, then), refusal::twice);
  EXPECT_EQ(under_test.give({4, true}, head_of_step(7, 2), {}, then), refusal::other_head);
  EXPECT_EQ(then.to_combine.size(), 0U);
  EXPECT_EQ(under_test.give({4, true}, head_of_step(7), {}, then), refusal::none);
  ASSERT_EQ(then.to_combine.size(), 1U);
  EXPECT_EQ(under_test.give({4, true}, head_of_step(7), {}, then), refusal::ended);
  under_test.combined(head_of_step(7), {}, then);
  EXPECT_EQ(then.finished.size(), 1U);
  EXPECT_EQ(under_test.give({4, true}, head_of_step(7), {}, then), refusal::ended);
  EXPECT_EQ(then.opened, 1U);
}

TEST(contribution_steps, are_counted_for_each_handler) {
  contribution_steps under_test(0, false);
  contribution_steps::effects then;
  for (const std::uint64_t place : {3U, 4U}) under_test.element_came(place);
  using refusal = contribution_steps::refusal;
  const contribution_head sum = head_of_step(7), picture = head_of_step(7, 2, 6);
  for (const std::uint64_t place : {3U, 4U}) EXPECT_EQ(under_test.give({place, true}, sum, {}, then), refusal::none);
  EXPECT_EQ(under_test.give({3, true}, picture, {}, then), refusal::none) << "another reduction of the same step";
  ASSERT_EQ(then.to_combine.size(), 1U);
  under_test.combined(sum, {}, then);
  EXPECT_EQ(then.finished.size(), 1U);
  EXPECT_EQ(under_test.give({3, true}, sum, {}, then), refusal::ended);
  EXPECT_EQ(under_test.give({4, true}, picture, {}, then), refusal::none) << "that has not ended";
  ASSERT_EQ(then.to_combine.size(), 2U);
  under_test.combined(picture, {}, then);
  EXPECT_EQ(then.finished.size(), 2U);
  EXPECT_EQ(then.opened, 2U);
}

TEST(contribution_steps, tell_what_is_missing_and_drop_it) {
  contribution_steps under_test(0, false);
  contribution_steps::effects then;
  for (std::uint64_t place = 0; place < 10; ++place) under_test.element_came(place);
  for (std::uint64_t place = 0; place < 3; ++place)
    static_cast<void>(under_test.give({place, true}, head_of_step(2), {}, then));
  std::uint64_t missing = 0;
  under_test.for_each_incomplete(
      [&](const contribution_head&, std::uint64_t lacks, std::uint64_t) { missing += lacks; });
  EXPECT_EQ(missing, 7U);
  EXPECT_FALSE(under_test.dropped());
  EXPECT_EQ(under_test.drop_all().size(), 1U);
  EXPECT_TRUE(under_test.dropped());
  EXPECT_EQ(under_test.drop_all().size(), 0U);
}

}  // namespace
}  // namespace nacre
