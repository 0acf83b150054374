// SPDX-License-Identifier: Apache-2.0
// Rings from seeds: streams of any sizes arrive whole, and forged slots never yield a malformed message.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "transport/shm/forbid_test_kit.hpp"
#include "transport/shm/ring_test_kit.hpp"

namespace nacre::transport::shm {
namespace {

constexpr std::size_t a_few = 64;

/// Sends one stream. If `refused`, the kernel forbids to read the writer's memory from a random moment on.
void play_stream(std::uint64_t seed, bool refused) {
  rng numbers(seed);
  const bool fetches = numbers.below(2) == 0 || refused;
  ring_memory memory(std::uint64_t{4096} << numbers.below(3));
  ring_writer writer(memory.view(), {.held_bytes_max = 1 + numbers.below(40000), .fetch_bytes_min = 3000});
  ring_reader reader(memory.view(), test_limits(fetches));
  if (fetches) reader.offer_to_fetch();
  const auto messages = static_cast<std::uint32_t>(numbers.below(400));
  std::vector<std::size_t> sizes;
  message_list batch, arrived;
  for (std::uint32_t i = 0; i < messages; ++i) {
    sizes.push_back(numbers.below(10) == 0 ? numbers.below(20000) : numbers.below(100));
    batch.push_back(numbered(i, sizes.back()));
  }
  const auto refused_from = refused ? static_cast<std::uint32_t>(numbers.below(messages + 1)) : messages + 1;
  bool is_refused = false;
  std::uint32_t next = 0;
  for (int round = 0; round < 100000 && next < messages; ++round) {
    if (next >= refused_from && !std::exchange(is_refused, true)) {
      ASSERT_TRUE(forbid(SYS_process_vm_readv, filter_scope::this_thread));
    }
    if (numbers.below(2) == 0) writer.submit(batch);
    if (numbers.below(2) == 0) writer.advance();
    if (numbers.below(2) == 0) reader.receive(arrived, arrived.size() + 1 + numbers.below(a_few));
    while (const message_ptr m = arrived.pop_front()) {
      ASSERT_TRUE(is_numbered(*m, next, sizes[next])) << "seed " << seed << ", message " << next;
      ++next;
    }
  }
  ASSERT_EQ(next, messages) << "seed " << seed;
  writer.advance();
  ASSERT_FALSE(writer.unsent()) << "seed " << seed;
  ASSERT_FALSE(writer.broken() || reader.error()) << "seed " << seed;
}

TEST(ring_fuzz, streams_of_any_sizes_arrive_whole_and_in_order_however_both_ends_take_turns) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) play_stream(seed, false);
}

TEST(ring_fuzz, streams_arrive_whole_and_in_order_whenever_the_kernel_begins_to_refuse) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::thread([seed] { play_stream(seed, true); }).join();  // the refusal ends with the thread
  }
}

/// A slot that is well formed, or nearly so.
void forge(slot& next, std::uint64_t position, rng& numbers) {
  next.header = {};
  next.header.payload_bytes = static_cast<std::uint32_t>(
      numbers.below(20) == 0 ? numbers.next() : numbers.below(numbers.below(2) == 0 ? 20 : 3000));
  next.header.kind = static_cast<message_kind>(numbers.below(16) == 0 ? numbers.below(256) : numbers.below(4));
  next.header.source = static_cast<std::uint32_t>(numbers.below(16) == 0 ? numbers.next() : numbers.below(8));
  next.header.flags = static_cast<std::uint8_t>(numbers.below(16) == 0 ? numbers.next() : 0);
  next.extra[0] = numbers.below(2) == 0 ? numbers.next() : reinterpret_cast<std::uint64_t>(&next);
  const auto kind = numbers.below(2) == 0 ? slot_kind::whole : static_cast<slot_kind>(numbers.below(9));
  next.stamp = make_stamp(position, kind);
}

void play_forgeries(std::uint64_t& taken, std::uint64_t& failures) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    rng numbers(seed);
    ring_memory memory(8192);
    const ring_view view = memory.view();
    const reader_limits limits = test_limits(numbers.below(2) == 0);
    ring_reader reader(view, limits);
    message_list arrived;
    for (std::uint64_t position = 0; position < 40; ++position) {
      forge(view.slots[position % view.slot_count], position, numbers);
      const bool had_failed = reader.error().has_value();
      reader.receive(arrived, a_few);
      ASSERT_TRUE(!had_failed || arrived.empty()) << "seed " << seed;
      while (const message_ptr m = arrived.pop_front()) {
        ++taken;
        ASSERT_LE(m->header.payload_bytes, limits.payload_bytes_max) << "seed " << seed;
        ASSERT_EQ(m->header.channel, limits.ring_channel) << "seed " << seed;
        ASSERT_LT(m->header.source, limits.ranks) << "seed " << seed;
        ASSERT_LE(m->header.kind, message_kind::reply) << "seed " << seed;
      }
    }
    failures += reader.error().has_value() ? 1 : 0;
  }
}

TEST(ring_fuzz, forged_slots_yield_only_what_a_message_may_be_and_a_failed_ring_stays_failed) {
  std::uint64_t taken = 0, failures = 0;
  play_forgeries(taken, failures);
  EXPECT_GT(taken, 500U) << "forgeries that are always refused at once test little";
  EXPECT_GT(failures, 1000U);
}

TEST(ring_fuzz, forged_slots_of_a_writer_whose_memory_is_refused_yield_no_more) {
  std::uint64_t taken = 0, failures = 0;
  std::thread([&] {
    ASSERT_TRUE(forbid(SYS_process_vm_readv, filter_scope::this_thread));
    play_forgeries(taken, failures);
  }).join();
  EXPECT_GT(taken, 200U) << "forgeries that are always refused at once test little";
  EXPECT_GT(failures, 1000U);
}

}  // namespace
}  // namespace nacre::transport::shm
