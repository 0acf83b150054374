// SPDX-License-Identifier: Apache-2.0
// The promises of inbox, each as a sentence.
#include "mobile/entry/inbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace nacre {
namespace {

message* numbered_loose(std::uint32_t source, std::uint32_t sequence) {
  message_ptr m = make_message(0);
  m->header.source = source;
  m->header.sequence = sequence;
  return m.release();
}

TEST(inbox, only_the_first_message_makes_the_entry_ready) {
  inbox box;
  EXPECT_TRUE(box.push(numbered_loose(0, 0)));
  EXPECT_FALSE(box.push(numbered_loose(0, 1)));
  EXPECT_EQ(box.count(), 2U);
  message_list taken;
  ASSERT_TRUE(box.claim(taken));
  EXPECT_TRUE(box.active());
  EXPECT_EQ(box.count(), 0U);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken.pop_front()->header.sequence, 0U);
  EXPECT_EQ(taken.pop_front()->header.sequence, 1U);
  EXPECT_EQ(box.finish(), inbox::finished::yes);
}

TEST(inbox, what_comes_while_it_runs_keeps_it_from_finishing) {
  inbox box;
  message_list taken;
  ASSERT_TRUE(box.push(numbered_loose(0, 0)));
  ASSERT_TRUE(box.claim(taken));
  EXPECT_FALSE(box.push(numbered_loose(0, 1)));
  EXPECT_EQ(box.finish(), inbox::finished::messages_came);
  box.requeue();
  ASSERT_TRUE(box.claim(taken));
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_EQ(box.finish(), inbox::finished::yes);
}

TEST(inbox, who_runs_it_sees_what_has_come_last_and_may_take_all) {
  inbox box(inbox::first::running);
  EXPECT_EQ(box.newest(), nullptr);
  for (std::uint32_t sequence = 0; sequence < 3; ++sequence) EXPECT_FALSE(box.push(numbered_loose(0, sequence)));
  ASSERT_NE(box.newest(), nullptr);
  EXPECT_EQ(box.newest()->header.sequence, 2U);
  message_list taken;
  box.take(taken);
  EXPECT_TRUE(box.active());
  EXPECT_EQ(box.newest(), nullptr);
  EXPECT_EQ(box.count(), 0U);
  ASSERT_EQ(taken.size(), 3U);
  for (std::uint32_t sequence = 0; sequence < 3; ++sequence) EXPECT_EQ(taken.pop_front()->header.sequence, sequence);
  EXPECT_EQ(box.finish(), inbox::finished::yes);
}

TEST(inbox, an_orphan_stays_one_while_its_messages_are_taken) {
  inbox box(inbox::first::running);
  EXPECT_FALSE(box.push(numbered_loose(0, 0)));
  EXPECT_FALSE(box.orphan());
  message_list taken;
  box.take(taken);
  EXPECT_EQ(taken.size(), 1U);
  EXPECT_EQ(box.finish(), inbox::finished::orphaned);
}

TEST(inbox, a_seizure_that_comes_while_it_runs_keeps_it_from_finishing_once) {
  inbox box;
  message_list taken;
  ASSERT_TRUE(box.push(numbered_loose(0, 0)));
  ASSERT_TRUE(box.claim(taken));
  EXPECT_EQ(box.claim_any(taken), inbox::begun::no);
  EXPECT_EQ(box.claim_any(taken), inbox::begun::no);
  EXPECT_FALSE(box.push(numbered_loose(0, 1))) << "a message and a wish";
  EXPECT_EQ(box.finish(), inbox::finished::messages_came);
  box.requeue();
  ASSERT_TRUE(box.claim(taken));
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_EQ(box.finish(), inbox::finished::yes) << "claiming is a look at the wish";
  EXPECT_EQ(box.claim_any(taken), inbox::begun::from_idle);
  EXPECT_EQ(box.claim_any(taken), inbox::begun::no) << "a wish alone";
  EXPECT_EQ(box.finish(), inbox::finished::messages_came);
  box.take_move_request();
  EXPECT_EQ(box.finish(), inbox::finished::yes);
}

TEST(inbox, an_orphan_ends_whatever_a_balancer_wishes) {
  inbox box(inbox::first::running);
  message_list taken;
  EXPECT_EQ(box.claim_any(taken), inbox::begun::no);
  EXPECT_FALSE(box.orphan());
  EXPECT_EQ(box.finish(), inbox::finished::orphaned);
}

TEST(inbox, a_claim_by_a_balancer_makes_the_item_stale) {
  inbox box;
  message_list taken;
  ASSERT_TRUE(box.push(numbered_loose(0, 0)));
  EXPECT_EQ(box.claim_any(taken), inbox::begun::from_scheduled);
  EXPECT_FALSE(box.claim(taken));
  EXPECT_EQ(box.finish(), inbox::finished::yes);
  EXPECT_FALSE(box.claim(taken));
  EXPECT_EQ(box.claim_any(taken), inbox::begun::from_idle);
  EXPECT_EQ(box.finish(), inbox::finished::yes);
}

TEST(inbox, counts_no_further_than_it_can_and_loses_no_message) {
  constexpr std::uint32_t most = 65535;
  inbox box;
  for (std::uint32_t n = 0; n < most + 10; ++n) static_cast<void>(box.push(numbered_loose(0, n)));
  EXPECT_EQ(box.count(), most);
  message_list taken;
  ASSERT_TRUE(box.claim(taken));
  EXPECT_EQ(taken.size(), most + 10);
  EXPECT_EQ(box.finish(), inbox::finished::yes);
}

TEST(inbox, an_orphan_is_deleted_by_whoever_finishes_it) {
  inbox idle;
  EXPECT_TRUE(idle.orphan());
  inbox busy;
  message_list taken;
  ASSERT_TRUE(busy.push(numbered_loose(0, 0)));
  ASSERT_TRUE(busy.claim(taken));
  EXPECT_FALSE(busy.orphan());
  EXPECT_EQ(busy.finish(), inbox::finished::orphaned);
}

/// Runs the entry's items as workers do: `items` counts the items in the scheduler.
struct mill {
  inbox box;
  std::atomic<int> items{0};
  std::atomic<int> inside{0};
  std::atomic<std::uint64_t> taken_in_all{0};
  std::vector<std::uint32_t> next = std::vector<std::uint32_t>(3, 0);  // by source; protected by the activation
  bool in_order = true;                                                // protected by the activation

  bool take_item() {
    int known = items.load();
    while (known > 0) {
      if (items.compare_exchange_weak(known, known - 1)) return true;
    }
    return false;
  }
  void process(message_list& taken) {
    if (inside.fetch_add(1) != 0) in_order = false;
    std::uint64_t count = 0;
    while (const message_ptr m = taken.pop_front()) {
      in_order = in_order && m->header.sequence == next[m->header.source]++;
      ++count;
    }
    inside.fetch_sub(1);
    taken_in_all += count;
    if (box.finish() == inbox::finished::yes) return;
    box.requeue();
    ++items;
  }
  void run_one() {
    message_list taken;
    if (take_item() && box.claim(taken)) process(taken);
  }
};

TEST(inbox, messages_of_many_threads_are_processed_once_in_order_by_one_thread_at_a_time) {
  constexpr std::uint32_t senders = 3, each_sends = 4000;
  mill all;
  const auto is_over = [&] { return all.taken_in_all == std::uint64_t{senders} * each_sends; };
  std::vector<std::thread> threads;
  for (std::uint32_t source = 0; source < senders; ++source) {
    threads.emplace_back([&, source] {
      for (std::uint32_t sequence = 0; sequence < each_sends; ++sequence) {
        if (all.box.push(numbered_loose(source, sequence))) ++all.items;
        if (sequence % 4 == 0) all.run_one();
      }
      while (!is_over()) {
        all.run_one();
        std::this_thread::yield();
      }
    });
  }
  threads.emplace_back([&] {  // a balancer
    while (!is_over()) {
      message_list taken;
      if (all.box.claim_any(taken) != inbox::begun::no) all.process(taken);
      std::this_thread::yield();
    }
  });
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(all.in_order);
  EXPECT_EQ(all.box.count(), 0U);
}

}  // namespace
}  // namespace nacre
