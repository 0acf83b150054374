// SPDX-License-Identifier: Apache-2.0
// Buffers and spans of megabytes: what arrives, and how many copies a process has of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/slab_pool.hpp"
#include "scenarios.hpp"

namespace nacre::tests {
namespace {

constexpr std::size_t big = 8 << 20;  // a large block of its own

/// Bytes of large blocks that this process has in use; nothing where the pools are off.
std::uint64_t large_bytes_live() { return process_pool_statistics().large_bytes_live; }
bool counts_blocks() {
  const buffer probe(big);
  return large_bytes_live() >= big;
}

/// Whether the sender's bytes are those that arrived, and how many copies of them this process has.
struct seen_buffer {
  bool equal = false;
  std::uint64_t address = 0;
  std::uint64_t large_bytes = 0;
};
seen_buffer look_at(int seed, buffer bytes) {
  const auto words = bytes.as<std::uint64_t>();
  bool equal = bytes.size() == big;
  for (std::size_t i = 0; i < words.size(); i += 509) equal = equal && words[i] == i * static_cast<std::size_t>(seed);
  return {equal, reinterpret_cast<std::uint64_t>(bytes.data()), large_bytes_live()};
}
seen_buffer look_at_span(std::span<const std::uint64_t> words) {
  bool equal = words.size_bytes() == big;
  for (std::size_t i = 0; i < words.size(); i += 509) equal = equal && words[i] == i * 3;
  return {equal, reinterpret_cast<std::uint64_t>(words.data()), large_bytes_live()};
}
buffer echo(buffer bytes) { return bytes; }
task<buffer> echo_later(context& ctx, rank_id rank, buffer bytes) {
  co_return co_await ctx.call<echo>(rank, std::move(bytes));
}

buffer filled(std::size_t factor) {
  buffer result(big);
  const auto words = result.as<std::uint64_t>();
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * factor;
  return result;
}

/// A buffer that travels takes one block in a process that has it, however it got there.
void buffers_travel(runtime& rt, std::uint64_t) {
  const std::vector<int> processes = rt.all_gather(static_cast<int>(::getpid()));
  if (rt.rank().value() == 0) {
    const bool counting = counts_blocks();
    const rank_id peer = next_of(rt);
    const bool one_process = processes[peer.value()] == processes[0];
    buffer mine = filled(5);
    const auto address = reinterpret_cast<std::uint64_t>(mine.data());
    const std::uint64_t block = large_bytes_live();
    const seen_buffer seen = rt.call<look_at>(peer, 5, std::move(mine)).get();
    EXPECT_TRUE(mine.empty());  // NOLINT: what is left behind is empty
    EXPECT_TRUE(seen.equal);
    if (one_process) {
      EXPECT_EQ(seen.address, address) << "the bytes were copied on their way to another thread";
    }
    if (counting) {
      EXPECT_EQ(seen.large_bytes, block) << "the receiver has copied the bytes";
    }

    buffer back = rt.call<echo>(peer, filled(7)).get();
    EXPECT_EQ(back.size(), big);
    if (counting) {
      EXPECT_EQ(large_bytes_live(), block) << "the caller has copied the result";
    }
    back = rt.call<echo_later>(peer, rt.rank(), std::move(back)).get();
    ASSERT_EQ(back.size(), big);
    EXPECT_EQ(back.as<std::uint64_t>()[1000], 7000U);

    const auto words = back.as<std::uint64_t>();
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * 3;
    const seen_buffer viewed = rt.call<look_at_span>(peer, words).get();
    EXPECT_TRUE(viewed.equal);
    if (counting) {
      EXPECT_EQ(viewed.large_bytes, one_process ? 2 * block : block) << "the elements were copied";
    }
  }
  rt.wait_quiescence();
}

constexpr std::array buffers_table{
    scenario{"buffers_and_spans_are_not_copied_on_the_way", buffers_travel},
};

}  // namespace

std::span<const scenario> buffer_scenarios() { return buffers_table; }

}  // namespace nacre::tests
