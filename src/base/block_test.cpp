// SPDX-License-Identifier: Apache-2.0
// The promises of allocate_block and release_block between threads, each as a sentence.
#include <nacre/block.hpp>
#include <nacre/rng.hpp>

#include <sched.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/mpsc_queue.hpp"
#include "base/sanitized.hpp"
#include "base/slab_pool.hpp"

namespace nacre {
namespace {

/// A message of a random length; its number determines all of its bytes.
struct parcel : mpsc_node {
  std::uint64_t number;
  std::size_t words;
  std::uint64_t* content() { return reinterpret_cast<std::uint64_t*>(this + 1); }

  static parcel* make(std::uint64_t number, std::size_t words) {
    auto* const result = new (allocate_block(sizeof(parcel) + words * 8)) parcel;
    result->number = number;
    result->words = words;
    for (std::size_t i = 0; i < words; ++i) result->content()[i] = number + i;
    return result;
  }
  static bool check_and_release(parcel* one) {
    bool intact = true;
    for (std::size_t i = 0; i < one->words; ++i) intact = intact && one->content()[i] == one->number + i;
    release_block(one);
    return intact;
  }
};

TEST(block, blocks_that_cross_threads_in_all_directions_keep_their_content) {
  constexpr std::size_t threads = 3;
  constexpr std::uint64_t each = 8000;
  std::array<mpsc_queue<parcel>, threads> inboxes;
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> damaged{0};
  const auto run = [&](std::size_t thread_index) {
    rng random(thread_index);
    const auto receive = [&] {
      parcel* const one = inboxes[thread_index].pop();
      if (one == nullptr) return sched_yield(), void();
      if (!parcel::check_and_release(one)) damaged.fetch_add(1);
      received.fetch_add(1);
    };
    for (std::uint64_t i = 0; i < each; ++i) {
      const std::size_t words = random.below(64) == 0 ? random.below(10000) : random.below(60);
      inboxes[random.below(threads)].push(parcel::make(random.next(), words));
      if (i % 2 == 0) receive();
      if (i % 1000 == 0) flush_remote_frees();
    }
    while (received.load() < threads * each) receive();
  };
  std::array workers{std::thread(run, 0), std::thread(run, 1), std::thread(run, 2)};
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(received.load(), threads * each);
  EXPECT_EQ(damaged.load(), 0U);
}

TEST(block, the_pool_of_an_ended_thread_takes_its_blocks_back_and_serves_the_next_thread) {
  std::vector<void*> blocks;
  const auto fill = [&] {
    for (int i = 0; i < 1000; ++i) blocks.push_back(allocate_block(500));
  };
  const auto round = [&] {
    std::thread(fill).join();
    for (void* const block : blocks) release_block(block);
    blocks.clear();
    flush_remote_frees();
  };
  round();
  const std::uint64_t held = process_pool_statistics().bytes_held;
  for (int i = 0; i < 5; ++i) round();
  EXPECT_EQ(process_pool_statistics().bytes_held, held);
}

/// Uses blocks from the destructor of a thread_local object that may die after the thread's pool is gone.
struct late_user {
  void* kept = nullptr;
  ~late_user() {
    release_block(kept);
    release_block(allocate_block(64));
  }
};

TEST(block, works_while_a_thread_ends) {
  std::thread([] {
    thread_local late_user user;  // made before the pool, so destroyed after it
    user.kept = nullptr;
    user.kept = allocate_block(64);
  }).join();
}

TEST(block_death_test, without_pools_blocks_come_from_operator_new_and_may_be_released_by_anybody) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process of its own, because that process stays without pools
  const auto run = [] {
    disable_block_pools();
    std::vector<void*> blocks;
    for (const std::size_t bytes : {0, 100, 70'000, 2'000'000}) blocks.push_back(allocate_block(bytes));
    std::thread([&] {
      for (void* const block : blocks) release_block(block);
    }).join();
    const pool_statistics held = process_pool_statistics();
    std::exit(held.bytes_held == 0 && held.large_bytes_live == 0 && held.large_bytes_kept == 0 ? 7 : 8);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7), "");
}

/// Makes the process use up its heap, and the system refuse to enlarge it.
void use_up_memory() {
  const rlimit nothing{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_AS, &nothing);
  for (std::size_t bytes = std::size_t{1} << 20; bytes >= 16;) {
    void* volatile const kept = std::malloc(bytes);
    if (kept == nullptr) bytes /= 2;
  }
}

TEST(block_death_test, a_small_block_too_of_which_there_is_no_memory_is_refused_by_out_of_blocks) {
  if (tests::sanitized) GTEST_SKIP() << "sanitizers need memory beside the program's";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process of its own
  const auto run = [](bool first_of_thread) {
    if (!first_of_thread) release_block(allocate_block(100));
    use_up_memory();
    try {
      while (true) static_cast<void>(allocate_block(100));
    } catch (const out_of_blocks&) {
      std::_Exit(7);
    } catch (const std::bad_alloc&) {
      std::_Exit(8);
    }
  };
  EXPECT_EXIT(run(false), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(run(true), testing::ExitedWithCode(7), "");
}

TEST(block, null_is_released_without_effect) { release_block(nullptr); }

}  // namespace
}  // namespace nacre
