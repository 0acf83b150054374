// SPDX-License-Identifier: Apache-2.0
// The inbox between threads: order, sleep, and the release of messages that nobody takes.
#include "transport/inproc/inbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace nacre::transport::inproc {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds patience{30};

message_list batch_of(std::uint32_t source, std::uint32_t first, std::uint32_t count) {
  message_list batch;
  for (std::uint32_t i = 0; i < count; ++i) {
    message_ptr m = make_message(0);
    m->header.source = source;
    m->header.sequence = first + i;
    batch.push_back(std::move(m));
  }
  return batch;
}

TEST(inbox, gives_out_batches_in_the_order_in_which_they_were_pushed) {
  inbox box;
  EXPECT_EQ(box.pop(), nullptr);
  for (const std::uint32_t first : {0U, 3U, 4U}) {
    message_list batch = batch_of(0, first, first == 3 ? 1 : 3);
    box.push(batch);
    EXPECT_TRUE(batch.empty());
  }
  message_list nothing;
  box.push(nothing);
  for (std::uint32_t i = 0; i < 7; ++i) EXPECT_EQ(box.pop()->header.sequence, i);
  EXPECT_EQ(box.pop(), nullptr);
}

TEST(inbox, keeps_what_is_pushed_while_the_receiver_walks_an_older_run) {
  inbox box;
  message_list batch = batch_of(0, 0, 3);
  box.push(batch);
  EXPECT_EQ(box.pop()->header.sequence, 0U);
  batch = batch_of(0, 3, 2);
  box.push(batch);
  for (std::uint32_t i = 1; i < 5; ++i) EXPECT_EQ(box.pop()->header.sequence, i);
  EXPECT_EQ(box.pop(), nullptr);
}

TEST(inbox, loses_nothing_when_many_senders_meet_a_receiver_that_sleeps_whenever_it_can) {
  constexpr std::uint32_t senders = 4;
  constexpr std::uint32_t messages = 5000;
  inbox box;
  std::vector<std::thread> threads;
  for (std::uint32_t sender = 0; sender < senders; ++sender) {
    threads.emplace_back([&box, sender] {
      for (std::uint32_t sent = 0; sent < messages;) {
        const std::uint32_t count = std::min(1 + (sent + sender) % 5, messages - sent);
        message_list batch = batch_of(sender, sent, count);
        box.push(batch);
        sent += count;
      }
    });
  }
  std::vector<std::uint32_t> next(senders);
  const auto start = steady_clock::now();
  for (std::uint32_t received = 0; received < senders * messages && steady_clock::now() - start < patience;) {
    const message_ptr m = box.pop();
    if (m == nullptr) {
      box.wait(patience);
      continue;
    }
    ++received;
    ASSERT_EQ(m->header.sequence, next[m->header.source]++);
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(next, std::vector<std::uint32_t>(senders, messages));
  EXPECT_EQ(box.pop(), nullptr);
}

TEST(inbox, returns_from_wait_when_something_is_there_already) {
  inbox box;
  message_list batch = batch_of(0, 0, 2);
  box.push(batch);
  const auto start = steady_clock::now();
  box.wait(patience);
  EXPECT_NE(box.pop(), nullptr);
  box.wait(patience);  // the second one has been taken out of the senders' reach, and not been popped
  EXPECT_LT(steady_clock::now() - start, patience);
}

constexpr body_ops counted{.packed_size = nullptr, .pack = nullptr, .destroy = [](message& m) noexcept {
                             --**reinterpret_cast<std::atomic<int>**>(m.body());
                           }};

message_list counted_batch(std::atomic<int>& alive, int count) {
  message_list batch;
  for (int i = 0; i < count; ++i) {
    message_ptr m = make_message(sizeof(std::atomic<int>*));
    new (m->body()) std::atomic<int>*(&alive);
    m->ops = &counted;
    ++alive;
    batch.push_back(std::move(m));
  }
  return batch;
}

TEST(inbox, releases_what_was_never_taken_and_what_comes_after_its_end) {
  std::atomic<int> alive{0};
  {
    inbox box;
    message_list batch = counted_batch(alive, 5);
    box.push(batch);
    static_cast<void>(box.pop());
    EXPECT_EQ(alive, 4);
    box.close();
    EXPECT_EQ(alive, 0);
    batch = counted_batch(alive, 3);
    box.push(batch);
    EXPECT_EQ(alive, 0);
    EXPECT_TRUE(batch.empty());
  }
  {
    inbox box;
    message_list batch = counted_batch(alive, 5);
    box.push(batch);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace nacre::transport::inproc
