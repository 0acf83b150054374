// SPDX-License-Identifier: Apache-2.0
// The promises of fiber, each as a sentence.
#include "exec/fiber.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sanitized.hpp"

namespace nacre {
namespace {

TEST(fiber, body_and_owner_alternate) {
  std::string said;
  std::unique_ptr<fiber> one;
  one = std::make_unique<fiber>([&] {
    said += 'a';
    one->suspend();
    said += 'b';
    one->suspend();
    said += 'c';
  });
  EXPECT_EQ(said, "");
  for (const char* expected : {"a", "ab", "abc"}) {
    EXPECT_FALSE(one->ended());
    one->resume();
    EXPECT_EQ(said, expected);
  }
  EXPECT_TRUE(one->ended());
}

TEST(fiber, has_a_smaller_stack_where_the_process_may_not_map_more) {
  if (tests::sanitized) GTEST_SKIP() << "a sanitizer has mapped all address space";
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight{.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (6 << 20),
                     .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  bool ran = false;
  fiber([&] { ran = true; }).resume();
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_TRUE(ran);
}

TEST(fiber, an_exception_of_the_body_comes_out_of_the_resume_that_saw_it) {
  std::unique_ptr<fiber> one;
  one = std::make_unique<fiber>([&] {
    one->suspend();
    throw std::runtime_error("from within");
  });
  one->resume();
  EXPECT_THROW(one->resume(), std::runtime_error);
  EXPECT_TRUE(one->ended());
}

/// Each body waits inside a catch, and again while its exception is under way.
TEST(fiber, bodies_that_wait_inside_a_catch_keep_their_own_exceptions) {
  struct waiting_destructor {
    fiber& own;
    ~waiting_destructor() {
      own.suspend();
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
  };
  constexpr std::size_t count = 3;
  std::vector<std::unique_ptr<fiber>> all(count);
  std::vector<std::string> caught;
  for (std::size_t each = 0; each < count; ++each) {
    all[each] = std::make_unique<fiber>([&all, &caught, each] {
      try {
        try {
          const waiting_destructor waits{*all[each]};
          throw std::runtime_error("that of body " + std::to_string(each));
        } catch (const std::exception&) {
          all[each]->suspend();
          throw;
        }
      } catch (const std::exception& error) {
        caught.emplace_back(error.what());
      }
    });
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& each : all) each->resume();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    EXPECT_EQ(std::current_exception(), nullptr);
  }
  for (const auto& each : all) each->resume();  // in the order of the first catch, so not the last one first
  EXPECT_EQ(caught, (std::vector<std::string>{"that of body 0", "that of body 1", "that of body 2"}));
}

TEST(fiber, a_body_that_has_not_ended_is_unwound_with_its_fiber) {
  struct guard {
    bool& gone;
    ~guard() { gone = true; }
  };
  bool gone = false, went_on = false;
  std::unique_ptr<fiber> one;
  fiber* self = nullptr;
  one = std::make_unique<fiber>([&] {
    const guard site{gone};
    self->suspend();
    went_on = true;
  });
  self = one.get();
  one->resume();
  one.reset();
  EXPECT_TRUE(gone);
  EXPECT_FALSE(went_on);
}

TEST(fiber, a_body_that_has_never_begun_does_not_begin_when_its_fiber_ends) {
  bool began = false;
  {
    const fiber one([&] { began = true; });
  }
  EXPECT_FALSE(began);
}

TEST(fiber, many_fibers_keep_their_own_stacks) {
  constexpr int count = 50, rounds = 20;
  std::vector<std::unique_ptr<fiber>> all(count);
  std::vector<int> sums(count, 0);
  for (int index = 0; index < count; ++index) {
    all[static_cast<std::size_t>(index)] = std::make_unique<fiber>([&, index] {
      int local = index;
      for (int round = 0; round < rounds; ++round) {
        local += round;
        all[static_cast<std::size_t>(index)]->suspend();
      }
      sums[static_cast<std::size_t>(index)] = local;
    });
  }
  for (int round = 0; round <= rounds; ++round) {
    for (const auto& each : all) each->resume();
  }
  for (int index = 0; index < count; ++index) {
    EXPECT_EQ(sums[static_cast<std::size_t>(index)], index + rounds * (rounds - 1) / 2);
  }
}

/// Only some of them have a guard, or the mappings of the process would not do.
TEST(fiber, there_may_be_more_than_mappings) {
  if (tests::sanitized) GTEST_SKIP() << "a sanitizer needs mappings of its own, and much memory";
  constexpr std::size_t count = 70'000, stack_bytes = 16 << 10;
  std::vector<std::unique_ptr<fiber>> all;
  std::size_t done = 0;
  for (std::size_t index = 0; index < count; ++index) {
    all.push_back(std::make_unique<fiber>(
        [&] {
          all.back()->suspend();
          ++done;
        },
        stack_bytes));
    all.back()->resume();
  }
  for (const auto& each : all) each->resume();
  EXPECT_EQ(done, count);
}

/// A recursion that is deeper than a stack without a guard holds.
TEST(fiber_death, tells_that_a_stack_without_a_guard_has_overflowed) {
  if (tests::sanitized) GTEST_SKIP() << "a sanitizer needs mappings of its own, and sees it first";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto overflow = [] {
    std::vector<std::unique_ptr<fiber>> all;
    const std::function<int(const char*, std::ptrdiff_t)> descend = [&](const char* top, std::ptrdiff_t bytes) {
      volatile char frame[256] = {};
      const bool deep = top - static_cast<const char*>(__builtin_frame_address(0)) >= bytes;
      if (deep) all.back()->suspend();
      return deep ? 0 : frame[0] + descend(top, bytes);
    };
    for (int index = 0; index < 40'000; ++index) {
      const std::ptrdiff_t bytes = index < 39'999 ? 0 : 17 << 10;
      all.push_back(std::make_unique<fiber>(
          [&, bytes] { descend(static_cast<const char*>(__builtin_frame_address(0)), bytes); }, 16 << 10));
      all.back()->resume();
    }
  };
  EXPECT_DEATH(overflow(), "more than its stack of 16 KiB");
}

/// The page that guards a stack splits a mapping of the kernel, which allows a process so many.
TEST(fiber, one_for_whose_stack_no_mapping_is_left_is_want_of_memory) {
  if (tests::sanitized) GTEST_SKIP() << "a sanitizer needs mappings of its own";
  std::size_t mappings_max = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> mappings_max;
  if (mappings_max == 0 || mappings_max > 1'000'000) GTEST_SKIP() << "this kernel allows too many mappings to use up";
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), bytes = 2 * mappings_max * page;
  void* const region = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(region, MAP_FAILED);
  std::size_t split = 0;  // every second page becomes a mapping of its own
  while (split < mappings_max && ::mprotect(static_cast<char*>(region) + (2 * split + 1) * page, page, PROT_READ) == 0)
    ++split;
  ASSERT_LT(split, mappings_max);
  bool refused = false;
  try {
    const fiber one([] {});
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  ::munmap(region, bytes);
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace nacre
