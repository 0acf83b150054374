// SPDX-License-Identifier: Apache-2.0
// A sparse table finds every object that was made, under any number, while other threads make more.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/sparse_table.hpp"

namespace nacre {
namespace {

struct item {
  item(std::uint32_t number, int& alive) : number_(number), alive_(alive) { ++alive_; }
  ~item() { --alive_; }
  [[nodiscard]] std::uint32_t key() const noexcept { return number_; }

 private:
  std::uint32_t number_;
  int& alive_;
};

struct plain {
  explicit plain(std::uint32_t number) : number_(number) {}
  [[nodiscard]] std::uint32_t key() const noexcept { return number_; }

 private:
  std::uint32_t number_;
};

TEST(sparse_table, keeps_each_object_where_it_was_made_and_ends_all) {
  int alive = 0;
  {
    sparse_table<item> table;
    std::vector<item*> items;
    const auto number = [](std::uint32_t i) { return i % 2 == 0 ? i << 20 : ~i; };  // far apart, or side by side
    for (std::uint32_t i = 0; i < 1000; ++i) {
      EXPECT_EQ(table.find(number(i)), nullptr);
      items.push_back(&table.of(number(i), [&] { return std::make_unique<item>(number(i), alive); }));
    }
    EXPECT_EQ(alive, 1000);
    for (std::uint32_t i = 0; i < 1000; ++i) {
      EXPECT_EQ(table.find(number(i)), items[i]);
      EXPECT_EQ(items[i]->key(), number(i));
      EXPECT_EQ(&table.of(number(i), [&] { return std::make_unique<item>(0, alive); }), items[i]);
    }
    EXPECT_EQ(alive, 1000) << "what is there is not made again";
  }
  EXPECT_EQ(alive, 0);
}

TEST(sparse_table, many_threads_make_one_object_of_each_number) {
  constexpr std::uint32_t numbers = 5000, threads = 4;
  sparse_table<plain> table;
  std::atomic<std::uint32_t> made_count{0};
  std::vector<std::vector<plain*>> seen(threads);
  std::vector<std::thread> all;
  for (std::uint32_t thread_index = 0; thread_index < threads; ++thread_index) {
    all.emplace_back([&, thread_index] {
      for (std::uint32_t i = 0; i < numbers; ++i) {
        const std::uint32_t number = (thread_index % 2 == 0 ? i : numbers - 1 - i) * 0x10001U;
        plain& mine = table.of(number, [&] {
          ++made_count;
          return std::make_unique<plain>(number);
        });
        ASSERT_EQ(mine.key(), number);
        ASSERT_EQ(table.find(number), &mine);
        seen[thread_index].push_back(&mine);
      }
    });
  }
  for (std::thread& each : all) each.join();
  EXPECT_EQ(made_count, numbers);
  for (std::uint32_t i = 0; i < numbers; ++i) {
    EXPECT_EQ(seen[0][i], seen[1][numbers - 1 - i]);
    EXPECT_EQ(seen[0][i], seen[2][i]);
    EXPECT_EQ(seen[1][i], seen[3][i]);
  }
}

}  // namespace
}  // namespace nacre
