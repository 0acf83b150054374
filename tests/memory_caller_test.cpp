// SPDX-License-Identifier: Apache-2.0
// A rank that puts and gets; the test plays transport and peers: regions registered, requests repeated, ends.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "forgery/forged_modules.hpp"
#include "forgery/memory_peer.hpp"

namespace nacre::forgery {
namespace {

using intent = memory_segments::intent;

/// A rank that puts to or gets from a peer.
class caller_of_copies : public lone_rank, public testing::WithParamInterface<intent> {
 protected:
  void begin(std::size_t bytes) {
    local_memory.assign(bytes, std::byte{3});
    start([this](runtime& rt) {
      const remote_memory<std::byte> remote_memory(
          {.rank = peer.value(), .segment = 4, .bytes = 1u << 20, .key = {1, 2}});
      auto done = puts() ? rt.put(remote_memory, 10, std::span<const std::byte>(local_memory))
                         : rt.get(remote_memory, 10, std::span(local_memory));
      try {
        done.get();
        outcome = "well";
      } catch (const call_error& error) {
        outcome = error.what();
      }
    });
  }
  bool puts() const { return GetParam() == intent::write; }
  using direct = std::tuple<memory_request, transport::registered_region, intent>;

  std::vector<std::byte> local_memory;
  std::string outcome = "under way";
};

INSTANTIATE_TEST_SUITE_P(of, caller_of_copies, testing::Values(intent::read, intent::write),
                         [](const auto& given) { return given.param == intent::read ? "a_get" : "a_put"; });

TEST_P(caller_of_copies, registers_each_piece_and_ends_when_all_are_copied_and_deregistered) {
  begin(400'000);
  const auto sent = said_by<&memory_module::on_direct, direct>();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(direct_memory.regions.size(), 2U);
  const auto& [second, second_region, second_what] = sent[1];
  EXPECT_EQ(second.offset, 10U);
  EXPECT_EQ(second.length, 400'000U);
  EXPECT_EQ(second.piece_offset, memory_transfers::direct_bytes_max);
  EXPECT_EQ(second.bytes, 400'000 - memory_transfers::direct_bytes_max);
  EXPECT_EQ(second_what, GetParam());
  EXPECT_EQ(direct_memory.regions[1].data(), local_memory.data() + second.piece_offset);
  EXPECT_EQ(direct_memory.regions[1].size(), second.bytes);
  arrive(to_module<&memory_module::on_done>(second.token, memory_status::done));
  EXPECT_EQ(direct_memory.deregistered, std::vector{second_region.id});
  EXPECT_EQ(outcome, "under way");
  arrive(to_module<&memory_module::on_done>(std::get<0>(sent[0]).token, memory_status::done));
  EXPECT_EQ(direct_memory.deregistered.size(), 2U);
  EXPECT_EQ(outcome, "well");
}

TEST_P(caller_of_copies, sends_a_piece_that_the_peer_cannot_copy_in_messages) {
  begin(40'000);
  const auto sent = said_by<&memory_module::on_direct, direct>();
  ASSERT_EQ(sent.size(), 1U);
  arrive(to_module<&memory_module::on_done>(std::get<0>(sent[0]).token, memory_status::unreachable));
  EXPECT_EQ(direct_memory.deregistered.size(), 1U);
  EXPECT_EQ(direct_memory.regions.size(), 1U) << "registered once more";
  const auto again = puts() ? said_by<&memory_module::on_put, std::tuple<memory_request, std::vector<std::byte>>>()
                            : said_by<&memory_module::on_get, std::tuple<memory_request, std::vector<std::byte>>>();
  ASSERT_EQ(again.size(), 1U);
  const auto& [asked, data] = again[0];
  EXPECT_EQ(asked.piece_offset, 0U);
  EXPECT_EQ(asked.bytes, 40'000U);
  EXPECT_NE(asked.token, std::get<0>(sent[0]).token);
  EXPECT_EQ(data, puts() ? local_memory : std::vector<std::byte>());
  EXPECT_EQ(outcome, "under way");
  const std::vector<std::byte> arrived(40'000, std::byte{6});
  arrive(puts() ? to_module<&memory_module::on_done>(asked.token, memory_status::done)
                : to_module<&memory_module::on_data>(asked.token, memory_bytes(arrived)));
  EXPECT_EQ(outcome, "well");
  EXPECT_EQ(local_memory[39'999], puts() ? std::byte{3} : std::byte{6});
}

TEST_P(caller_of_copies, is_told_what_has_failed_and_why) {
  begin(40'000);
  const auto sent = said_by<&memory_module::on_direct, direct>();
  ASSERT_EQ(sent.size(), 1U);
  arrive(to_module<&memory_module::on_done>(std::get<0>(sent[0]).token, memory_status::out_of_range));
  EXPECT_EQ(outcome,
            std::string(puts() ? "put" : "get") +
                " of 40000 bytes at byte 10 of memory 4 of rank 2 (1048576 bytes) failed: the range does not lie "
                "inside the memory");
}

TEST_P(caller_of_copies, registers_no_short_pieces_and_none_for_peers_out_of_reach) {
  for (const bool reach : {true, false}) {
    direct_memory.reach = reach;
    begin(reach ? 1000 : 40'000);
    EXPECT_TRUE(direct_memory.regions.empty());
    EXPECT_TRUE((said_by<&memory_module::on_direct, direct>().empty()));
    end();
  }
}

TEST_P(caller_of_copies, registers_pieces_from_direct_min_on) {
  constexpr std::size_t direct_min = 100 << 10;  // more than an indirect piece
  configuration.set("direct_min", "100KiB");
  for (const bool registers : {true, false}) {
    direct_memory.regions.clear();
    begin(registers ? direct_min : direct_min - 1);
    EXPECT_EQ(direct_memory.regions.size(), registers ? 1U : 0U);
    end();
  }
}

TEST_P(caller_of_copies, sends_to_a_peer_out_of_reach_what_the_pools_hold) {
  direct_memory.reach = false;
  begin(400'000);
  using in_messages = std::tuple<memory_request, std::vector<std::byte>>;
  const auto sent =
      puts() ? said_by<&memory_module::on_put, in_messages>() : said_by<&memory_module::on_get, in_messages>();
  EXPECT_EQ(sent.size(), 7U);
  for (const auto& [asked, data] : sent) EXPECT_LE(asked.bytes, memory_transfers::piece_bytes_max);
}

TEST_P(caller_of_copies, takes_all_back_when_the_rank_ends_before_the_future) {
  local_memory.resize(400'000);
  std::optional<future<void>> kept;
  start([&](runtime& rt) {
    const remote_memory<std::byte> remote_memory(
        {.rank = peer.value(), .segment = 4, .bytes = 1u << 20, .key = {1, 2}});
    kept = puts() ? rt.put(remote_memory, 10, std::span<const std::byte>(local_memory))
                  : rt.get(remote_memory, 10, std::span(local_memory));
  });
  EXPECT_EQ(direct_memory.regions.size(), 2U);
  end();
  EXPECT_EQ(direct_memory.deregistered.size(), 2U);
}

TEST_P(caller_of_copies, takes_all_back_when_the_rank_ends) {
  begin(400'000);
  end();
  EXPECT_EQ(direct_memory.deregistered.size(), 2U);
}

}  // namespace
}  // namespace nacre::forgery
