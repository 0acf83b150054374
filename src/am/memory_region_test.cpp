// SPDX-License-Identifier: Apache-2.0
// Pieces in registered regions: when and by which side a region is deregistered, and which replies fit.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "am/memory_segments.hpp"
#include "am/memory_transfers.hpp"

namespace nacre {
namespace {

using intent = memory_segments::intent;
using bytes = std::vector<std::byte>;
using transport::registered_region;

constexpr rank_id target{1};

/// Notes the regions that are registered and deregistered; nothing is ever copied.
class lending_desk final : public transport::direct_memory {
 public:
  struct registration {
    std::span<std::byte> bytes;
    transport::copy_way way;
    int deregistrations = 0;
  };
  std::vector<registration> regions;  // by id - 1
  std::size_t regions_max = 100;

  bool reaches(rank_id) const noexcept override { return true; }
  std::optional<registered_region> register_region(rank_id destination, std::span<std::byte> region,
                                                   transport::copy_way way) override {
    EXPECT_EQ(destination, target);
    if (regions.size() == regions_max) return std::nullopt;
    regions.push_back({region, way});
    return registered_region{.id = regions.size()};
  }
  void deregister(rank_id source, const registered_region& region) noexcept override {
    EXPECT_EQ(source, target);
    ++regions[region.id - 1].deregistrations;
  }
  transport::copy_outcome copy(const transport::direct_copy&) override { return transport::copy_outcome::failed; }
  void stop(std::uint64_t) noexcept override {}
  std::optional<ended_copy> take_ended() override { return std::nullopt; }
};

class registered_pieces : public testing::TestWithParam<intent> {
 protected:
  registered_pieces() {
    state =
        new memory_transfer({.name = {.rank = target.value(), .segment = 1, .bytes = local_memory.size(), .key = {}},
                             .direction = GetParam(),
                             .offset = 0,
                             .local_memory = local_memory});
    transfers.start(*state, memory_transfers::direct_bytes_max);
  }
  ~registered_pieces() override { state->release(); }

  /// The next piece, registered; its id is the number of the registration.
  memory_transfers::piece register_next() {
    auto leaving = transfers.next(target);
    EXPECT_TRUE(leaving);
    leaving->region = state->register_region(desk, leaving->offset, leaving->bytes);
    EXPECT_TRUE(leaving->region);
    transfers.note_region(*leaving, *leaving->region);
    return *leaving;
  }

  bytes local_memory = bytes(3 * memory_transfers::direct_bytes_max);
  memory_transfer* state = nullptr;
  memory_transfers transfers{memory_transfers::data_path::reply};
  lending_desk desk;
};

INSTANTIATE_TEST_SUITE_P(of, registered_pieces, testing::Values(intent::read, intent::write),
                         [](const auto& given) { return given.param == intent::read ? "a_get" : "a_put"; });

TEST_P(registered_pieces, are_their_part_of_the_memory_in_the_direction_of_the_transfer) {
  const auto way = GetParam() == intent::write ? transport::copy_way::from_region : transport::copy_way::to_region;
  for (std::uint64_t index = 0; index < 3; ++index) {
    EXPECT_EQ(register_next().region->id, index + 1);
    EXPECT_EQ(desk.regions[index].bytes.data(), local_memory.data() + index * memory_transfers::direct_bytes_max);
    EXPECT_EQ(desk.regions[index].bytes.size(), memory_transfers::direct_bytes_max);
    EXPECT_EQ(desk.regions[index].way, way);
  }
  EXPECT_FALSE(transfers.next(target));
}

TEST_P(registered_pieces, are_answered_without_bytes_and_then_deregistered_once) {
  const auto first = register_next();
  EXPECT_FALSE(transfers.take_reply(target, first.token, memory_status::done, first.bytes));
  const auto answered = transfers.take_reply(target, first.token, memory_status::done, 0);
  ASSERT_TRUE(answered && answered->region);
  EXPECT_EQ(*answered->region, *first.region);
  state->deregister(*answered->region);
  EXPECT_FALSE(transfers.complete(*answered, memory_status::done));
  EXPECT_EQ(desk.regions[0].deregistrations, 1);
  state->deregister_all();
  EXPECT_EQ(desk.regions[0].deregistrations, 1);
}

TEST_P(registered_pieces, are_all_deregistered_when_the_future_is_dropped_and_no_more_is_registered) {
  const auto first = register_next(), second = register_next();
  state->acquire();  // the fixture's
  state->abandon();
  EXPECT_EQ(desk.regions[0].deregistrations, 1);
  EXPECT_EQ(desk.regions[1].deregistrations, 1);
  EXPECT_FALSE(state->register_region(desk, 0, 1));
  EXPECT_FALSE(transfers.next(target));
  for (const auto& each : {first, second}) {
    const auto answered = transfers.take_reply(target, each.token, memory_status::unreachable, 0);
    ASSERT_TRUE(answered);
    state->deregister(*answered->region);
    EXPECT_EQ(transfers.complete(*answered, memory_status::unreachable).has_value(), each.offset != 0);
  }
  EXPECT_EQ(desk.regions[0].deregistrations, 1) << "by whoever came first";
}

TEST_P(registered_pieces, that_cannot_be_registered_are_pieces_as_any) {
  desk.regions_max = 0;
  const auto leaving = transfers.next(target);
  ASSERT_TRUE(leaving);
  EXPECT_FALSE(state->register_region(desk, leaving->offset, leaving->bytes));
  const bool carries = GetParam() == intent::read;
  EXPECT_TRUE(transfers.take_reply(target, leaving->token, memory_status::done, carries ? leaving->bytes : 0));
}

TEST_P(registered_pieces, that_the_target_cannot_copy_leave_once_more_and_carry_their_bytes_then) {
  const auto first = register_next();
  auto answered = transfers.take_reply(target, first.token, memory_status::unreachable, 0);
  ASSERT_TRUE(answered);
  transfers.resend(*answered);
  EXPECT_FALSE(answered->region);
  EXPECT_EQ(transfers.in_flight(), 1U);
  bytes more(5 * memory_transfers::direct_bytes_max);
  auto* const other = new memory_transfer(
      {.name = {.rank = target.value(), .segment = 1, .bytes = more.size(), .key = {}}, .local_memory = more});
  transfers.start(*other, memory_transfers::direct_bytes_max);
  while (transfers.next(target)) continue;
  EXPECT_EQ(transfers.in_flight(),
            memory_transfers::window_bytes / (memory_transfers::direct_bytes_max + memory_transfers::piece_cost))
      << "it takes its room in the window again";
  EXPECT_FALSE(transfers.take_reply(target, first.token, memory_status::done, 0)) << "of the first time";
  const bool carries = GetParam() == intent::read;
  EXPECT_TRUE(transfers.take_reply(target, answered->token, memory_status::done, carries ? answered->bytes : 0));
  state->deregister(*first.region);
  other->abandon();
}

TEST_P(registered_pieces, are_deregistered_though_the_future_outlives_the_rank) {
  register_next();
  transfers.deregister_all();
  EXPECT_EQ(desk.regions[0].deregistrations, 1);
}

TEST(memory_segments, withdraw_hastens_what_would_last_once_nothing_more_can_begin) {
  memory_segments s(rank_id(0));
  bytes memory(64);
  const auto name = s.expose(memory, detail::memory_access::read_write, {7, 8});
  auto held = std::make_unique<memory_segments::lease>(*s.access(name, 0, 64, intent::write));
  EXPECT_EQ(held->segment(), name.segment);
  bool hastened = false;
  EXPECT_TRUE(s.withdraw(name, [&] {
    EXPECT_FALSE(s.access(name, 0, 64, intent::write));
    held.reset();
    hastened = true;
  }));
  EXPECT_TRUE(hastened);
}

}  // namespace
}  // namespace nacre
