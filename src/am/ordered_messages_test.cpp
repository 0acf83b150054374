// SPDX-License-Identifier: Apache-2.0
// In which order messages of a rank of the same process are taken, with and without pressure.
#include "am/ordered_messages.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "exec/thread_context.hpp"

namespace nacre {
namespace {

constexpr std::uint32_t item_of(std::uint32_t thread, std::uint32_t number) {
  return number << 11U | thread << 1U | 1U;
}

class queue {
 public:
  void add(std::uint32_t item, bool pressure, std::uint64_t number) {
    message_ptr m = make_message(0);
    m->header.sequence = item;
    m->header.object = number;
    under_test_.append_of(item, pressure, std::move(m));
  }
  std::vector<std::uint64_t> take(std::size_t most = 1000) {
    std::vector<std::uint64_t> taken;
    while (taken.size() < most) {
      const message_ptr m = under_test_.take_first();
      if (m == nullptr) break;
      taken.push_back(m->header.object);
    }
    return taken;
  }

 private:
  ordered_messages under_test_;
};

using numbers = std::vector<std::uint64_t>;

TEST(ordered_messages, are_taken_in_the_order_sent_without_pressure) {
  queue all;
  for (std::uint64_t number = 0; number < 6; ++number)
    all.add(item_of(1, static_cast<std::uint32_t>(number / 2)), false, number);
  EXPECT_EQ(all.take(), (numbers{0, 1, 2, 3, 4, 5}));
}

TEST(ordered_messages, of_the_newest_item_are_first_under_pressure_and_those_of_main_keep_their_order) {
  queue all;
  all.add(0, true, 0);
  all.add(item_of(0, 1), true, 1);
  all.add(item_of(0, 1), true, 2);
  all.add(0, true, 3);
  all.add(item_of(0, 2), true, 4);
  all.add(item_of(0, 2), true, 5);
  EXPECT_EQ(all.take(), (numbers{4, 5, 1, 2, 0, 3}));
}

TEST(ordered_messages, of_items_that_run_side_by_side_keep_their_order) {
  queue all;
  for (std::uint32_t step = 0; step < 5; ++step) all.add(item_of(step % 2, 7), true, 10 * (step % 2) + step / 2);
  EXPECT_EQ(all.take(), (numbers{10, 11, 0, 1, 2}));
}

TEST(ordered_messages, of_an_item_keep_their_order_when_pressure_begins_and_ends) {
  queue all;
  all.add(item_of(0, 1), false, 0);
  all.add(item_of(0, 1), true, 1);
  all.add(item_of(0, 2), true, 2);
  all.add(item_of(0, 2), false, 3);
  EXPECT_EQ(all.take(), (numbers{2, 3, 0, 1}));
}

TEST(ordered_messages, are_taken_once_each_and_those_of_an_item_in_order_whatever_happens) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    queue all;
    std::map<std::uint64_t, std::uint64_t> next;  // by item
    std::uint64_t added = 0, taken = 0;
    std::vector<std::uint64_t> sent(4), number(4);
    const auto take = [&](std::size_t most) {
      for (const std::uint64_t each : all.take(most)) {
        ++taken;
        EXPECT_EQ(each % 1000, next[each / 1000]++) << "item " << each / 1000;
      }
    };
    for (int step = 0; step < 300; ++step) {
      const std::uint64_t thread = random() % 4;
      if (random() % 3 == 0) ++number[thread], sent[thread] = 0;
      const auto item = item_of(static_cast<std::uint32_t>(thread), static_cast<std::uint32_t>(number[thread]));
      all.add(item, random() % 8 < 4, std::uint64_t{item} * 1000 + sent[thread]++);
      ++added;
      if (random() % 4 == 0) take(random() % 6);
    }
    take(1000);
    EXPECT_EQ(taken, added);
  }
}

}  // namespace
}  // namespace nacre
