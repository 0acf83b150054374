// SPDX-License-Identifier: Apache-2.0
// A rank with memory that peers access; the test plays transport and peers: pieces copied, refused and answered.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "forgery/forged_modules.hpp"
#include "forgery/memory_peer.hpp"

namespace nacre::forgery {
namespace {

using transport::copy_outcome;
using transport::copy_way;
using intent = memory_segments::intent;

class target_of_copies : public lone_rank {
 protected:
  target_of_copies() {
    start([this](runtime& rt) { exposed = rt.expose(std::span(memory)).name(); });
  }

  memory_request piece(std::uint64_t index, std::uint64_t bytes, std::uint64_t token = 5) const {
    return {.name = exposed, .token = token, .offset = 1000, .length = 200'000, .piece_offset = index, .bytes = bytes};
  }
  void ask(const memory_request& asked, intent purpose = intent::write) {
    arrive(to_module<&memory_module::on_direct>(asked, region, purpose));
  }
  /// Asks in messages, without direct copies.
  void ask_in_messages(const memory_request& asked, intent purpose) {
    if (purpose == intent::read) return arrive(to_module<&memory_module::on_get>(asked, memory_bytes()));
    const std::vector<std::byte> data(asked.bytes, std::byte{1});
    arrive(to_module<&memory_module::on_put>(asked, memory_bytes(data)));
  }

  std::vector<std::byte> memory = std::vector<std::byte>(1u << 20);
  detail::memory_name exposed;
  const transport::registered_region region{.id = 77, .address = 88};
};

TEST_F(target_of_copies, has_the_piece_copied_in_the_direction_of_the_transfer) {
  for (const intent purpose : {intent::write, intent::read}) {
    direct_memory.copies.clear();
    ask(piece(0, 3000), purpose);
    ask(piece(3000, 4000), purpose);
    ASSERT_EQ(direct_memory.copies.size(), 2U);
    for (const auto& each : direct_memory.copies) {
      EXPECT_EQ(each.peer, peer);
      EXPECT_EQ(each.region, region);
      EXPECT_EQ(each.way, purpose == intent::write ? copy_way::from_region : copy_way::to_region);
    }
    EXPECT_EQ(direct_memory.copies[0].local_memory.data(), memory.data() + 1000);
    EXPECT_EQ(direct_memory.copies[0].local_memory.size(), 3000U);
    EXPECT_EQ(direct_memory.copies[1].local_memory.data(), memory.data() + 4000);
    EXPECT_EQ(direct_memory.copies[1].local_memory.size(), 4000U);
    EXPECT_NE(direct_memory.copies[0].tag, direct_memory.copies[1].tag);
  }
}

TEST_F(target_of_copies, says_how_a_copy_has_ended_when_it_has_ended) {
  direct_memory.outcome = copy_outcome::done;
  ask(piece(0, 3000, 1));
  direct_memory.outcome = copy_outcome::failed;
  ask(piece(0, 3000, 2));
  EXPECT_EQ(answers(), (said{{1, memory_status::done}, {2, memory_status::unreachable}}));
  direct_memory.outcome = copy_outcome::pending;
  for (std::uint64_t token = 3; token <= 5; ++token) ask(piece(0, 3000, token));
  EXPECT_EQ(answers(), said{});
  direct_memory.ended = {{.tag = direct_memory.copies[4].tag, .well = true},
                         {.tag = direct_memory.copies[2].tag, .well = false}};
  run_until_idle();
  EXPECT_EQ(answers(), (said{{5, memory_status::done}, {3, memory_status::unreachable}}));
  direct_memory.ended = {{.tag = direct_memory.copies[3].tag, .well = true}};
  run_until_idle();
  EXPECT_EQ(answers(), (said{{4, memory_status::done}}));
  rank().memory().withdraw(exposed);
  EXPECT_TRUE(direct_memory.stopped.empty()) << "none is under way any more";
}

TEST_F(target_of_copies, copies_nothing_that_the_caller_may_not_touch) {
  const auto refused = [&](auto change, memory_status as, intent purpose) {
    memory_request asked = piece(0, 3000);
    change(asked);
    ask(asked, purpose);
    ask_in_messages(asked, purpose);
    EXPECT_EQ(answers(), (said{{5, as}, {5, as}}));
  };
  const auto fixed = rank().memory().expose(memory, detail::memory_access::read_only);
  const auto gone = rank().memory().expose(memory, detail::memory_access::read_write);
  rank().memory().withdraw(gone);
  for (const intent purpose : {intent::write, intent::read}) {
    refused([](auto& asked) { asked.name.key[1] ^= 1; }, memory_status::wrong_key, purpose);
    refused([](auto& asked) { asked.name.segment = 9; }, memory_status::never_exposed, purpose);
    refused([&](auto& asked) { asked.name = gone; }, memory_status::withdrawn, purpose);
    refused([](auto& asked) { asked.length = 1u << 20; }, memory_status::out_of_range, purpose);
  }
  refused([&](auto& asked) { asked.name = fixed; }, memory_status::read_only, intent::write);
  EXPECT_TRUE(direct_memory.copies.empty());
  EXPECT_EQ(memory, std::vector<std::byte>(1u << 20));
}

TEST_F(target_of_copies, stops_those_of_the_memory_that_is_withdrawn_and_says_so) {
  const auto other = rank().memory().expose(memory, detail::memory_access::read_write);
  direct_memory.outcome = copy_outcome::pending;
  ask(piece(0, 3000, 1));
  memory_request elsewhere = piece(0, 3000, 2);
  elsewhere.name = other;
  ask(elsewhere);
  rank().memory().withdraw(exposed);
  EXPECT_EQ(direct_memory.stopped, std::vector{direct_memory.copies[0].tag});
  EXPECT_EQ(answers(), said{}) << "its end is still to come";
  direct_memory.ended = {{.tag = direct_memory.copies[0].tag, .well = false},
                         {.tag = direct_memory.copies[1].tag, .well = true}};
  run_until_idle();
  EXPECT_EQ(answers(), (said{{1, memory_status::withdrawn}, {2, memory_status::done}}));
}

TEST_F(target_of_copies, stops_all_when_the_rank_ends) {
  direct_memory.outcome = copy_outcome::pending;
  ask(piece(0, 3000));
  end();
  EXPECT_EQ(direct_memory.stopped.size(), 1U);
}

TEST_F(target_of_copies, refuses_more_than_a_window_holds_for_each_peer) {
  direct_memory.outcome = copy_outcome::pending;
  const std::size_t most = memory_transfers::window_bytes / memory_transfers::piece_cost * ranks;
  while (direct_memory.copies.size() < most && refusal().empty()) ask(piece(0, 1));
  EXPECT_EQ(refusal(), "");
  ask(piece(0, 1));
  EXPECT_EQ(refusal(), "rank 2 sent more pieces than it may at a time");
  EXPECT_EQ(direct_memory.copies.size(), most);
}

TEST_F(target_of_copies, refuses_a_region_where_it_registers_none_itself) {
  end();
  has_direct_memory = false;
  start([](runtime&) {});
  ask(piece(0, 3000));
  EXPECT_EQ(refusal(), "rank 2 sent memory where nobody registers any");
}

/// Requests that no rank sends, whether their bytes come directly or in messages.
class impossible_piece : public target_of_copies, public testing::WithParamInterface<int> {
 protected:
  memory_request lie() const {
    memory_request asked = piece(0, 100);
    switch (GetParam() / 3) {
      case 0:
        asked.piece_offset = 200'001;
        asked.bytes = 0;
        break;
      case 1:
        asked.piece_offset = 199'901;
        break;
      case 2:
        asked.bytes = memory_transfers::direct_bytes_max + 1;
        asked.length = 300'000;
        break;
      default:
        asked.name.rank = peer.value();
    }
    return asked;
  }
};

INSTANTIATE_TEST_SUITE_P(sent, impossible_piece, testing::Range(0, 12));

TEST_P(impossible_piece, is_refused) {
  const memory_request asked = lie();
  if (GetParam() % 3 == 0) ask(asked);
  if (GetParam() % 3 == 1) ask_in_messages(asked, intent::read);
  if (GetParam() % 3 == 2) ask_in_messages(asked, intent::write);
  EXPECT_EQ(refusal(), "rank 2 sent a piece of a transfer that cannot be one");
  EXPECT_EQ(answers(), said{});
}

TEST_F(target_of_copies, refuses_a_piece_of_another_length_than_it_says) {
  const std::vector<std::byte> data(99, std::byte{1});
  arrive(to_module<&memory_module::on_put>(piece(0, 100), memory_bytes(data)));
  EXPECT_EQ(refusal(), "rank 2 sent a piece of another length than it says");
  EXPECT_EQ(memory, std::vector<std::byte>(1u << 20));
}

TEST_F(target_of_copies, refuses_a_longer_piece_than_it_says_too) {
  const std::vector<std::byte> data(101, std::byte{1});
  arrive(to_module<&memory_module::on_put>(piece(0, 100), memory_bytes(data)));
  EXPECT_EQ(refusal(), "rank 2 sent a piece of another length than it says");
  EXPECT_EQ(memory, std::vector<std::byte>(1u << 20));
}

TEST_F(target_of_copies, refuses_ends_of_pieces_that_it_has_not_sent) {
  arrive(to_module<&memory_module::on_done>(std::uint64_t{1} << 32, memory_status::done));
  EXPECT_EQ(refusal(), "rank 2 sent the end of a piece that nobody awaits");
}

TEST_F(target_of_copies, refuses_bytes_that_it_has_not_asked_for) {
  const std::vector<std::byte> data(8);
  arrive(to_module<&memory_module::on_data>(std::uint64_t{1} << 32, memory_bytes(data)));
  EXPECT_EQ(refusal(), "rank 2 sent bytes of memory that nobody has asked for");
}

TEST_F(target_of_copies, tells_who_withdraws_what_is_not_exposed) {
  auto name = exposed;
  rank().memory().withdraw(exposed);
  name.rank = 3;
  try {
    rank().memory().withdraw(name);
    FAIL();
  } catch (const usage_error& error) {
    EXPECT_STREQ(error.what(),
                 "withdraw of memory 1 of rank 3 on rank 0, which does not expose it (any more): withdraw once, on "
                 "the rank that called expose");
  }
}

}  // namespace
}  // namespace nacre::forgery
