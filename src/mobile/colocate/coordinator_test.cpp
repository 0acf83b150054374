// SPDX-License-Identifier: Apache-2.0
// The transitions of colocations, each as a sentence, and all orders of a few of them at once.
#include "mobile/colocate/coordinator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/sanitized.hpp"

namespace nacre {
namespace {

using kind = colocate_action::kind;
using step = colocate_step;

const object_id one(rank_id(0), 1), two(rank_id(0), 2), three(rank_id(1), 1);
const std::vector<object_id> all_three{three, one, two};

struct asked {
  coordinator subject;
  std::uint64_t number = 0;
  std::vector<colocate_action> next;

  explicit asked(const std::vector<object_id>& objects) : number(subject.begin(objects)) {}
  bool tell(object_id object, step step, std::uint32_t rank = 0, bool stays = false, std::uint64_t bytes = 1) {
    next.clear();
    return subject.on(rank_id(rank), {number, object, step, stays, bytes}, next);
  }
  void make_ready(const std::vector<object_id>& objects) {
    for (const object_id each : objects) ASSERT_TRUE(tell(each, step::ready));
  }
  [[nodiscard]] std::string said() const {
    std::string text;
    for (const colocate_action& each : next) {
      const char* const names[] = {"acquire", "let_go", "release", "go", "run", "fail", "over"};
      text += (text.empty() ? "" : " ") + std::string(names[static_cast<int>(each.operation)]);
      if (each.object.valid())
        text += "(" + std::to_string(each.object.birth().value() * 2 + each.object.index()) + ")";
      if (each.operation == kind::go || each.operation == kind::run) text += "->" + std::to_string(each.target.value());
    }
    return text;
  }
};

TEST(coordinator, objects_are_seized_one_after_the_other_in_the_order_of_their_names_once_all_streams_stand_still) {
  asked a(all_three);
  EXPECT_TRUE(a.tell(two, step::ready));
  EXPECT_TRUE(a.tell(three, step::ready));
  EXPECT_EQ(a.said(), "");
  EXPECT_TRUE(a.tell(one, step::ready));
  EXPECT_EQ(a.said(), "acquire(1)");
  EXPECT_TRUE(a.tell(one, step::acquired, 4));
  EXPECT_EQ(a.said(), "acquire(2)");
  EXPECT_TRUE(a.tell(two, step::acquired, 4));
  EXPECT_EQ(a.said(), "acquire(3)");
  EXPECT_TRUE(a.tell(three, step::acquired, 4));
  EXPECT_EQ(a.said(), "run->4") << "all are on one rank already";
  EXPECT_EQ(a.subject.open(), 0U);
}

TEST(coordinator, as_few_objects_move_as_can_be_and_of_equals_the_lighter_ones) {
  asked a(all_three);
  a.make_ready(all_three);
  EXPECT_TRUE(a.tell(one, step::acquired, 1) && a.tell(two, step::acquired, 2) && a.tell(three, step::acquired, 2));
  EXPECT_EQ(a.said(), "go(1)->2");
  EXPECT_TRUE(a.tell(one, step::arrived, 2));
  EXPECT_EQ(a.said(), "run->2");
  asked b({one, two});
  b.make_ready({one, two});
  EXPECT_TRUE(b.tell(one, step::acquired, 1, false, 10) && b.tell(two, step::acquired, 2, false, 11));
  EXPECT_EQ(b.said(), "go(1)->2");
}

TEST(coordinator, an_object_that_refuses_to_move_decides_the_place_and_two_of_them_that_it_fails) {
  asked a(all_three);
  a.make_ready(all_three);
  EXPECT_TRUE(a.tell(one, step::acquired, 1, true) && a.tell(two, step::acquired, 2) &&
              a.tell(three, step::acquired, 2));
  EXPECT_EQ(a.said(), "go(2)->1 go(3)->1");
  EXPECT_TRUE(a.tell(two, step::arrived, 1));
  EXPECT_EQ(a.said(), "");
  EXPECT_TRUE(a.tell(three, step::arrived, 1));
  EXPECT_EQ(a.said(), "run->1");
  asked b({one, two});
  b.make_ready({one, two});
  EXPECT_TRUE(b.tell(one, step::acquired, 1, true) && b.tell(two, step::acquired, 2, true));
  EXPECT_EQ(b.said(), "fail(1) release(1) release(2) over");
}

TEST(coordinator, a_destroyed_object_ends_it_and_all_others_go_on_as_soon_as_they_can) {
  asked a(all_three);
  EXPECT_TRUE(a.tell(one, step::ready));
  EXPECT_TRUE(a.tell(two, step::gone));
  EXPECT_EQ(a.said(), "fail(2) let_go(1)");
  EXPECT_TRUE(a.tell(three, step::ready));
  EXPECT_EQ(a.said(), "let_go(3) over");
  EXPECT_TRUE(a.tell(three, step::gone)) << "before it has heard that it may go on";
  EXPECT_EQ(a.said(), "");
  asked b(all_three);
  b.make_ready(all_three);
  EXPECT_TRUE(b.tell(one, step::acquired, 7));
  EXPECT_TRUE(b.tell(three, step::gone)) << "while two is asked";
  EXPECT_EQ(b.said(), "fail(3) release(1)");
  EXPECT_TRUE(b.tell(two, step::acquired, 1));
  EXPECT_EQ(b.said(), "release(2) over");
  asked c({one, two});
  EXPECT_TRUE(c.tell(one, step::gone));
  EXPECT_TRUE(c.tell(one, step::ready)) << "from where it was before";
  EXPECT_TRUE(c.tell(two, step::gone));
  EXPECT_EQ(c.said(), "over");
  EXPECT_TRUE(c.tell(two, step::ready)) << "as late as that";
}

TEST(coordinator, what_cannot_be_is_refused_and_changes_nothing) {
  asked a({one, two});
  EXPECT_FALSE(a.tell(three, step::ready)) << "takes no part";
  EXPECT_FALSE(a.tell(one, step::acquired)) << "was not asked";
  EXPECT_FALSE(a.tell(one, step::arrived));
  a.make_ready({one, two});
  EXPECT_FALSE(a.tell(one, step::ready)) << "twice";
  EXPECT_FALSE(a.tell(two, step::acquired)) << "out of order";
  EXPECT_TRUE(a.tell(one, step::acquired, 1) && a.tell(two, step::acquired, 2));
  EXPECT_EQ(a.said(), "go(2)->1");
  EXPECT_FALSE(a.tell(two, step::arrived, 2)) << "not there";
  EXPECT_FALSE(a.tell(one, step::arrived, 1)) << "did not move";
  EXPECT_FALSE(a.tell(two, step::gone)) << "it is held";
  EXPECT_TRUE(a.tell(two, step::arrived, 1));
  EXPECT_FALSE(a.tell(two, step::arrived, 1)) << "over";
}

/// Three colocations that overlap in a circle, on objects with locks taken in order: every order of events ends.
class circle {
 public:
  circle() {
    for (const auto& objects : {std::vector{one, two}, std::vector{two, three}, std::vector{three, one}}) {
      const std::uint64_t number = subject_.begin(objects);
      left_ += 1;
      for (const object_id each : objects) ready_.insert({number, each.value()});
    }
  }
  /// Plays the choices of `path`, then the first possible ones; returns how many there were at each point.
  std::vector<std::size_t> play(const std::vector<std::size_t>& path) {
    std::vector<std::size_t> width;
    while (left_ != 0) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> can(ready_.begin(), ready_.end());
      const std::size_t joins = can.size();
      for (const auto& [number, object] : wanted_) {
        if (held_.count(object) == 0) can.emplace_back(number, object);
      }
      if (can.empty()) return {};  // they wait for each other
      const std::size_t chosen = width.size() < path.size() ? path[width.size()] : 0;
      width.push_back(can.size());
      const auto [number, object] = can[chosen];
      const bool joined = chosen < joins;
      if (joined) {
        ready_.erase(can[chosen]);
      } else {
        wanted_.erase(can[chosen]);
        held_[object] = number;
      }
      std::vector<colocate_action> next;
      EXPECT_TRUE(subject_.on(
          rank_id(0), {number, object_id::from_value(object), joined ? step::ready : step::acquired, false, 0}, next));
      for (const colocate_action& each : next) {
        if (each.operation == kind::acquire) wanted_.insert({each.number, each.object.value()});
        if (each.operation == kind::run) finish(each.number);
      }
    }
    return width;
  }

 private:
  void finish(std::uint64_t number) {
    --left_;
    std::erase_if(held_, [&](const auto& each) { return each.second == number; });
  }
  coordinator subject_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> ready_, wanted_;
  std::map<std::uint64_t, std::uint64_t> held_;
  int left_ = 0;
};

TEST(coordinator, colocations_that_overlap_in_a_circle_all_run_in_every_order_of_events) {
  constexpr std::size_t orders_max = tests::sanitized ? 4000 : SIZE_MAX;
  std::vector<std::size_t> path;
  std::size_t orders = 0;
  for (;;) {
    const std::vector<std::size_t> width = circle().play(path);
    ASSERT_FALSE(width.empty()) << "after " << orders << " orders";
    ++orders;
    if (orders == orders_max) break;
    path.resize(width.size(), 0);
    while (!path.empty() && path.back() + 1 == width[path.size() - 1]) path.pop_back();
    if (path.empty()) break;
    ++path.back();
  }
  EXPECT_GE(orders, std::min<std::size_t>(orders_max, 10'000));
}

}  // namespace
}  // namespace nacre
