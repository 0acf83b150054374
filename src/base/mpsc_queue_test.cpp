// SPDX-License-Identifier: Apache-2.0
// The promises of mpsc_queue, each as a sentence.
#include "base/mpsc_queue.hpp"

#include <sched.h>

#include <array>
#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace nacre {
namespace {

struct numbered : mpsc_node {
  std::size_t producer = 0;
  std::size_t number = 0;
};

TEST(mpsc_queue, gives_elements_in_the_order_of_their_pushes) {
  std::array<numbered, 5> nodes;
  mpsc_queue<numbered> queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
  for (numbered& node : nodes) queue.push(&node);
  EXPECT_FALSE(queue.empty());
  for (numbered& node : nodes) EXPECT_EQ(queue.pop(), &node);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_TRUE(queue.empty());
}

TEST(mpsc_queue, a_node_may_be_pushed_again_as_soon_as_it_was_popped) {
  numbered only;
  mpsc_queue<numbered> queue;
  for (int round = 0; round < 10; ++round) {
    queue.push(&only);
    ASSERT_EQ(queue.pop(), &only);
    ASSERT_TRUE(queue.empty());
  }
}

TEST(mpsc_queue, take_all_empties_the_queue_into_a_list_in_order) {
  std::array<numbered, 7> nodes;
  mpsc_queue<numbered> queue;
  EXPECT_TRUE(queue.take_all().empty());
  for (std::size_t first = 0; first < nodes.size(); ++first) {  // with the stub at every place
    for (std::size_t i = 0; i < nodes.size(); ++i) queue.push(&nodes[i]);
    for (std::size_t i = 0; i < first; ++i) ASSERT_EQ(queue.pop(), &nodes[i]);
    mpsc_list<numbered> taken = queue.take_all();
    EXPECT_TRUE(queue.empty());
    for (std::size_t i = first; i < nodes.size(); ++i) ASSERT_EQ(taken.pop(), &nodes[i]);
    EXPECT_EQ(taken.pop(), nullptr);
  }
}

TEST(mpsc_queue, a_list_keeps_its_elements_while_the_queue_fills_again) {
  std::array<numbered, 4> nodes;
  mpsc_queue<numbered> queue;
  queue.push(&nodes[0]);
  queue.push(&nodes[1]);
  mpsc_list<numbered> taken = queue.take_all();
  queue.push(&nodes[2]);
  queue.push(&nodes[3]);
  EXPECT_EQ(taken.pop(), &nodes[0]);
  queue.push(&nodes[0]);
  EXPECT_EQ(taken.pop(), &nodes[1]);
  EXPECT_TRUE(taken.empty());
  EXPECT_EQ(queue.pop(), &nodes[2]);
  EXPECT_EQ(queue.pop(), &nodes[3]);
  EXPECT_EQ(queue.pop(), &nodes[0]);
}

/// Several producers at once; checks that the elements of each producer come in order and exactly once.
class mpsc_queue_race : public testing::Test {
 protected:
  static constexpr std::size_t producers = 3;
  static constexpr std::size_t each = 20000;

  void SetUp() override {
    for (std::size_t p = 0; p < producers; ++p) {
      nodes_[p] = std::vector<numbered>(each);
      threads_[p] = std::thread([this, p] {
        ready_.arrive_and_wait();
        for (std::size_t i = 0; i < each; ++i) {
          nodes_[p][i].producer = p;
          nodes_[p][i].number = i;
          queue_.push(&nodes_[p][i]);
        }
      });
    }
    ready_.arrive_and_wait();
  }
  void TearDown() override {
    for (std::thread& thread : threads_) thread.join();
    EXPECT_TRUE(queue_.empty());
    for (const std::size_t next : expected_) EXPECT_EQ(next, each);
  }
  /// A null node means that the queue was empty.
  void accept(const numbered* node) {
    if (node == nullptr) {
      sched_yield();
      return;
    }
    if (node->number != expected_.at(node->producer)) ++out_of_order_;
    expected_[node->producer] = node->number + 1;
    ++received_;
  }

  std::latch ready_{producers + 1};
  std::array<std::vector<numbered>, producers> nodes_;
  std::array<std::thread, producers> threads_;
  std::array<std::size_t, producers> expected_{};
  mpsc_queue<numbered> queue_;
  std::size_t received_ = 0;
  std::size_t out_of_order_ = 0;
};

TEST_F(mpsc_queue_race, pop_gives_every_element_once_and_each_producers_in_order) {
  while (received_ < producers * each) accept(queue_.pop());
  EXPECT_EQ(out_of_order_, 0U);
  EXPECT_EQ(queue_.pop(), nullptr);
}

TEST_F(mpsc_queue_race, take_all_gives_every_element_once_and_each_producers_in_order) {
  while (received_ < producers * each) {
    mpsc_list<numbered> taken = queue_.take_all();
    if (taken.empty()) accept(queue_.pop());
    while (numbered* const node = taken.pop()) accept(node);
  }
  EXPECT_EQ(out_of_order_, 0U);
}

}  // namespace
}  // namespace nacre
