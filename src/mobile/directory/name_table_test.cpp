// SPDX-License-Identifier: Apache-2.0
// The promises of name_table, each as a sentence; name_table_schedules_test.cpp has more.
#include <nacre/rng.hpp>

#include "mobile/directory/name_table.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "base/sanitized.hpp"

namespace nacre {
namespace {

struct alignas(8) table_item {
  explicit table_item(std::uint64_t index) : id(rank_id(0), index) {}
  object_id id;
};

TEST(name_table, a_name_that_comes_back_in_the_same_memory_can_go_again) {
  epoch_domain readers;
  name_table<table_item> table(readers, 64);
  table_item one(7);
  for (int round = 0; round < 1000; ++round) {
    ASSERT_EQ(&table.add(one), &one);
    ASSERT_EQ(table.find(one.id), &one);
    ASSERT_TRUE(table.remove(one));
    ASSERT_EQ(table.find(one.id), nullptr);
    ASSERT_FALSE(table.remove(one));
  }
}

TEST(name_table, a_table_grows_and_shrinks_with_what_is_in_it) {
  epoch_domain readers;
  name_table<table_item> table(readers, 8);
  std::deque<table_item> items;
  for (std::uint64_t index = 1; index <= 10'000; ++index) {
    table_item& each = items.emplace_back(index);
    ASSERT_EQ(&table.add(each), &each);
  }
  EXPECT_LE(table.capacity(), 65536U);
  for (table_item& each : items) ASSERT_EQ(table.find(each.id), &each);
  for (std::size_t index = 10; index < items.size(); ++index) ASSERT_TRUE(table.remove(items[index]));
  EXPECT_LE(table.capacity(), 512U);
  EXPECT_EQ(table.size(), 10U);
  for (std::size_t index = 0; index < items.size(); ++index) {
    EXPECT_EQ(table.find(items[index].id) != nullptr, index < 10) << index;
  }
}

/// Tables that have been replaced wait for their readers, and then go: not many of them at a time.
TEST(name_table, takes_no_more_memory_the_longer_items_come_and_go) {
  if (tests::sanitized) GTEST_SKIP() << "the sanitizer's allocator tells nothing, and keeps what was freed";
  constexpr std::size_t alive = 10'000, rounds = 200;  // a table of 256 KiB, replaced in each round
  epoch_domain readers;
  epoch_domain::participant self(readers);
  name_table<table_item> table(readers, 64);
  std::deque<table_item> items;
  std::uint64_t next = 1;
  const auto bytes = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const auto churn = [&](std::size_t count) {
    for (std::size_t each = 0; each < count; ++each) {
      table.add(items.emplace_back(next++));
      if (items.size() > alive) {
        ASSERT_TRUE(table.remove(items.front()));
        items.pop_front();
      }
      self.quiescent();
    }
  };
  churn(3 * alive);
  const std::size_t warm = bytes();
  churn(rounds * alive);
  EXPECT_LE(bytes(), warm + 5 * table.capacity() * sizeof(std::uint64_t));
}

TEST(name_table, threads_that_add_remove_and_look_up_lose_nothing_while_it_grows_and_shrinks) {
  constexpr std::uint64_t writers = 3, rounds = 40, each_round = 400;
  epoch_domain readers;
  name_table<table_item> table(readers, 8);
  std::deque<table_item> lasting;
  for (std::uint64_t index = 1; index <= 100; ++index) {
    lasting.emplace_back(index * 1'000'003);
    static_cast<void>(table.add(lasting.back()));
  }
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> ended{0};
  std::vector<std::thread> threads;
  for (std::uint64_t writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&, writer] {
      epoch_domain::participant self(readers);
      rng random(writer + 1);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        std::vector<std::unique_ptr<table_item>> table_items;
        for (std::uint64_t index = 1, last = random.below(each_round); index <= last; ++index) {
          auto result = std::make_unique<table_item>((round * writers + writer) * each_round + index);
          if (&table.add(*result) != result.get()) ++wrong;
          table_items.push_back(std::move(result));
          if (index % 16 == 0) self.quiescent();
        }
        for (std::unique_ptr<table_item>& each : table_items) {
          if (table.find(each->id) != each.get() || !table.remove(*each) || table.find(each->id) != nullptr) ++wrong;
          self.retire(each.release(), [](void* gone) { delete static_cast<table_item*>(gone); });
          self.quiescent();
        }
      }
      ++ended;
    });
  }
  threads.emplace_back([&] {
    epoch_domain::participant self(readers);
    while (ended != writers) {
      for (table_item& each : lasting) {
        if (table.find(each.id) != &each) ++wrong;
      }
      if (table.find(object_id(rank_id(1), 7)) != nullptr) ++wrong;
      self.quiescent();
    }
  });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(table.size(), lasting.size());
  std::size_t found_count = 0;
  table.for_each([&](table_item&) { ++found_count; });
  EXPECT_EQ(found_count, lasting.size());
}

TEST(name_table, of_many_adds_of_one_name_exactly_one_wins) {
  constexpr std::uint64_t names = 3000;
  epoch_domain readers;
  name_table<table_item> table(readers, 8);
  std::vector<std::vector<table_item*>> seen(3, std::vector<table_item*>(names));
  std::vector<std::deque<table_item>> table_items(3);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < seen.size(); ++thread) {
    threads.emplace_back([&, thread] {
      epoch_domain::participant self(readers);
      for (std::uint64_t index = 0; index < names; ++index) {
        seen[thread][index] = &table.add(table_items[thread].emplace_back(index + 1));
        if (index % 8 == 0) self.quiescent();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
  EXPECT_EQ(table.size(), names);
}

}  // namespace
}  // namespace nacre
