// SPDX-License-Identifier: Apache-2.0
// The promises of directory, each as a sentence.
#include "mobile/directory/directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace nacre {
namespace {

void never(work&, thread_context&) {}

object_id name(std::uint64_t index) { return {rank_id(static_cast<std::uint32_t>(index % 5)), index}; }

TEST(directory, an_entry_is_found_by_its_name_and_made_only_once) {
  epoch_domain readers;
  const epoch_domain::participant reader(readers);
  directory known(readers, &never);
  EXPECT_EQ(known.find(name(1)), nullptr);
  object_entry& entry = known.find_or_add(name(1), {rank_id(3), 7});
  EXPECT_EQ(entry.id, name(1));
  EXPECT_EQ(entry.location.read(), (known_location{rank_id(3), 7}));
  EXPECT_EQ(&known.find_or_add(name(1), {rank_id(4), 9}), &entry);
  EXPECT_EQ(known.find(name(1)), &entry);
  EXPECT_EQ(known.size(), 1U);
}

TEST(directory, growing_and_removing_loses_nobody_else) {
  constexpr std::uint64_t count = 5000;
  epoch_domain readers;
  const epoch_domain::participant reader(readers);
  directory known(readers, &never);
  for (std::uint64_t index = 1; index <= count; ++index) {
    static_cast<void>(known.find_or_add(name(index), {}));
  }
  for (std::uint64_t index = 1; index <= count; index += 2) {
    object_entry* const odd = known.find(name(index));
    ASSERT_NE(odd, nullptr);
    EXPECT_TRUE(known.remove(*odd));
    EXPECT_FALSE(known.remove(*odd));
    odd->release_reference();
  }
  EXPECT_EQ(known.size(), count / 2);
  for (std::uint64_t index = 1; index <= count; ++index) {
    EXPECT_EQ(known.find(name(index)) != nullptr, index % 2 == 0) << index;
  }
  std::set<std::uint64_t> visited;
  known.for_each([&](const object_entry& each) { visited.insert(each.id.value()); });
  EXPECT_EQ(visited.size(), count / 2);
}

TEST(directory, names_that_come_and_go_for_ever_do_not_fill_the_table) {
  epoch_domain readers;
  epoch_domain::participant reader(readers);
  directory known(readers, &never);
  for (std::uint64_t index = 1; index <= 20'000; ++index) {
    object_entry& one = known.find_or_add(name(index), {});
    EXPECT_TRUE(known.remove(one));
    one.release_reference();
    reader.quiescent();
  }
  EXPECT_EQ(known.size(), 0U);
  EXPECT_EQ(known.find(name(3)), nullptr);
}

TEST(directory, lookups_beside_writers_find_what_stays_and_never_what_is_not_there) {
  constexpr std::uint64_t lasting = 500;
  epoch_domain readers;
  directory known(readers, &never);
  {
    const epoch_domain::participant setup(readers);
    for (std::uint64_t index = 1; index <= lasting; ++index) {
      static_cast<void>(known.find_or_add(name(index), {}));
    }
  }
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int looker = 0; looker < 2; ++looker) {
    threads.emplace_back([&] {
      epoch_domain::participant self(readers);
      while (!is_over) {
        for (std::uint64_t index = 1; index <= lasting; ++index) {
          const object_entry* const entry = known.find(name(index));
          if (entry == nullptr || entry->id != name(index)) ++wrong;
        }
        if (known.find(name(10'000'000)) != nullptr) ++wrong;
        self.quiescent();
      }
    });
  }
  {
    epoch_domain::participant self(readers);
    for (std::uint64_t index = lasting + 1; index <= 6000; ++index) {
      object_entry& one = known.find_or_add(name(index), {});
      if (index % 2 == 0) {
        static_cast<void>(known.remove(one));
        self.retire(&one, [](void* gone) { static_cast<object_entry*>(gone)->release_reference(); });
      }
      self.quiescent();
    }
  }
  is_over = true;
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace nacre
