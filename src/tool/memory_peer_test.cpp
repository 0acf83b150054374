// SPDX-License-Identifier: Apache-2.0
// One-sided memory of a real rank whose transport and peers are played by the test: who copies what, and what is said.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tool/forged_messages_test_kit.hpp"
#include "tool/memory_peer_test_kit.hpp"

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

  memory_request piece(std::uint64_t at, std::uint64_t bytes, std::uint64_t token = 5) const {
    return {.name = exposed, .token = token, .offset = 1000, .length = 200'000, .at = at, .bytes = bytes};
  }
  void ask(const memory_request& asked, intent what = intent::write) {
    arrive(to_module<&memory_part::on_direct>(asked, lent, what));
  }
  /// The same in messages.
  void ask_in_messages(const memory_request& asked, intent what) {
    if (what == intent::read) return arrive(to_module<&memory_part::on_get>(asked, memory_bytes()));
    const std::vector<std::byte> data(asked.bytes, std::byte{1});
    arrive(to_module<&memory_part::on_put>(asked, memory_bytes(data)));
  }

  std::vector<std::byte> memory = std::vector<std::byte>(1u << 20);
  detail::memory_name exposed;
  const transport::lent_memory lent{.id = 77, .address = 88};
};

TEST_F(target_of_copies, has_the_piece_copied_in_the_direction_of_the_transfer) {
  for (const intent what : {intent::write, intent::read}) {
    desk.copies.clear();
    ask(piece(0, 3000), what);
    ask(piece(3000, 4000), what);
    ASSERT_EQ(desk.copies.size(), 2U);
    for (const auto& each : desk.copies) {
      EXPECT_EQ(each.peer, peer);
      EXPECT_EQ(each.lent, lent);
      EXPECT_EQ(each.way, what == intent::write ? copy_way::from_lent : copy_way::to_lent);
    }
    EXPECT_EQ(desk.copies[0].own.data(), memory.data() + 1000);
    EXPECT_EQ(desk.copies[0].own.size(), 3000U);
    EXPECT_EQ(desk.copies[1].own.data(), memory.data() + 4000);
    EXPECT_EQ(desk.copies[1].own.size(), 4000U);
    EXPECT_NE(desk.copies[0].tag, desk.copies[1].tag);
  }
}

TEST_F(target_of_copies, says_how_a_copy_has_ended_when_it_has_ended) {
  desk.outcome = copy_outcome::done;
  ask(piece(0, 3000, 1));
  desk.outcome = copy_outcome::failed;
  ask(piece(0, 3000, 2));
  EXPECT_EQ(answers(), (said{{1, memory_status::done}, {2, memory_status::unreachable}}));
  desk.outcome = copy_outcome::pending;
  for (std::uint64_t token = 3; token <= 5; ++token) ask(piece(0, 3000, token));
  EXPECT_EQ(answers(), said{});
  desk.ended = {{.tag = desk.copies[4].tag, .well = true}, {.tag = desk.copies[2].tag, .well = false}};
  settle();
  EXPECT_EQ(answers(), (said{{5, memory_status::done}, {3, memory_status::unreachable}}));
  desk.ended = {{.tag = desk.copies[3].tag, .well = true}};
  settle();
  EXPECT_EQ(answers(), (said{{4, memory_status::done}}));
}

TEST_F(target_of_copies, copies_nothing_that_the_caller_may_not_touch) {
  const auto refused = [&](auto change, memory_status as, intent what) {
    memory_request asked = piece(0, 3000);
    change(asked);
    ask(asked, what);
    ask_in_messages(asked, what);
    EXPECT_EQ(answers(), (said{{5, as}, {5, as}}));
  };
  const auto fixed = rank().memory().expose(memory, detail::memory_access::read_only);
  const auto gone = rank().memory().expose(memory, detail::memory_access::read_write);
  rank().memory().withdraw(gone);
  for (const intent what : {intent::write, intent::read}) {
    refused([](auto& asked) { asked.name.key[1] ^= 1; }, memory_status::wrong_key, what);
    refused([](auto& asked) { asked.name.segment = 9; }, memory_status::never_exposed, what);
    refused([&](auto& asked) { asked.name = gone; }, memory_status::withdrawn, what);
    refused([](auto& asked) { asked.length = 1u << 20; }, memory_status::out_of_range, what);
  }
  refused([&](auto& asked) { asked.name = fixed; }, memory_status::read_only, intent::write);
  EXPECT_TRUE(desk.copies.empty());
  EXPECT_EQ(memory, std::vector<std::byte>(1u << 20));
}

TEST_F(target_of_copies, stops_those_of_the_memory_that_is_withdrawn_and_says_so) {
  const auto other = rank().memory().expose(memory, detail::memory_access::read_write);
  desk.outcome = copy_outcome::pending;
  ask(piece(0, 3000, 1));
  memory_request elsewhere = piece(0, 3000, 2);
  elsewhere.name = other;
  ask(elsewhere);
  rank().memory().withdraw(exposed);
  EXPECT_EQ(desk.stopped, std::vector{desk.copies[0].tag});
  EXPECT_EQ(answers(), said{}) << "its end is still to come";
  desk.ended = {{.tag = desk.copies[0].tag, .well = false}, {.tag = desk.copies[1].tag, .well = true}};
  settle();
  EXPECT_EQ(answers(), (said{{1, memory_status::withdrawn}, {2, memory_status::done}}));
}

TEST_F(target_of_copies, stops_all_when_the_rank_ends) {
  desk.outcome = copy_outcome::pending;
  ask(piece(0, 3000));
  end();
  EXPECT_EQ(desk.stopped.size(), 1U);
}

TEST_F(target_of_copies, refuses_more_than_a_window_holds_for_each_peer) {
  desk.outcome = copy_outcome::pending;
  const std::size_t most = memory_transfers::window_bytes / memory_transfers::piece_cost * ranks;
  while (desk.copies.size() < most && refusal().empty()) ask(piece(0, 1));
  EXPECT_EQ(refusal(), "");
  ask(piece(0, 1));
  EXPECT_EQ(refusal(), "rank 2 sent more pieces than it may at a time");
  EXPECT_EQ(desk.copies.size(), most);
}

TEST_F(target_of_copies, refuses_lent_memory_where_it_lends_none_itself) {
  end();
  has_desk = false;
  start([](runtime&) {});
  ask(piece(0, 3000));
  EXPECT_EQ(refusal(), "rank 2 sent memory where nobody lends any");
}

/// What no rank sends, however its bytes have come.
class impossible_piece : public target_of_copies, public testing::WithParamInterface<int> {
 protected:
  memory_request lie() const {
    memory_request asked = piece(0, 100);
    switch (GetParam() / 3) {
      case 0:
        asked.at = 200'001;
        asked.bytes = 0;
        break;
      case 1:
        asked.at = 199'901;
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
  arrive(to_module<&memory_part::on_put>(piece(0, 100), memory_bytes(data)));
  EXPECT_EQ(refusal(), "rank 2 sent a piece of another length than it says");
  EXPECT_EQ(memory, std::vector<std::byte>(1u << 20));
}

TEST_F(target_of_copies, refuses_a_longer_piece_than_it_says_too) {
  const std::vector<std::byte> data(101, std::byte{1});
  arrive(to_module<&memory_part::on_put>(piece(0, 100), memory_bytes(data)));
  EXPECT_EQ(refusal(), "rank 2 sent a piece of another length than it says");
  EXPECT_EQ(memory, std::vector<std::byte>(1u << 20));
}

TEST_F(target_of_copies, refuses_ends_of_pieces_that_it_has_not_sent) {
  arrive(to_module<&memory_part::on_done>(std::uint64_t{1} << 32, memory_status::done));
  EXPECT_EQ(refusal(), "rank 2 sent the end of a piece that nobody awaits");
}

TEST_F(target_of_copies, refuses_bytes_that_it_has_not_asked_for) {
  const std::vector<std::byte> data(8);
  arrive(to_module<&memory_part::on_data>(std::uint64_t{1} << 32, memory_bytes(data)));
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

/// A rank that puts to or gets from a peer.
class caller_of_copies : public lone_rank, public testing::WithParamInterface<intent> {
 protected:
  void begin(std::size_t bytes) {
    own.assign(bytes, std::byte{3});
    start([this](runtime& rt) {
      const remote_memory<std::byte> there({.rank = peer.value(), .segment = 4, .bytes = 1u << 20, .key = {1, 2}});
      auto done = puts() ? rt.put(there, 10, std::span<const std::byte>(own)) : rt.get(there, 10, std::span(own));
      try {
        done.get();
        how = "well";
      } catch (const call_error& error) {
        how = error.what();
      }
    });
  }
  bool puts() const { return GetParam() == intent::write; }
  using direct = std::tuple<memory_request, transport::lent_memory, intent>;

  std::vector<std::byte> own;
  std::string how = "under way";
};

INSTANTIATE_TEST_SUITE_P(of, caller_of_copies, testing::Values(intent::read, intent::write),
                         [](const auto& given) { return given.param == intent::read ? "a_get" : "a_put"; });

TEST_P(caller_of_copies, lends_each_piece_and_ends_when_all_are_copied_and_taken_back) {
  begin(400'000);
  const auto sent = said_by<&memory_part::on_direct, direct>();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(desk.loans.size(), 2U);
  const auto& [second, second_lent, second_what] = sent[1];
  EXPECT_EQ(second.offset, 10U);
  EXPECT_EQ(second.length, 400'000U);
  EXPECT_EQ(second.at, memory_transfers::direct_bytes_max);
  EXPECT_EQ(second.bytes, 400'000 - memory_transfers::direct_bytes_max);
  EXPECT_EQ(second_what, GetParam());
  EXPECT_EQ(desk.loans[1].data(), own.data() + second.at);
  EXPECT_EQ(desk.loans[1].size(), second.bytes);
  arrive(to_module<&memory_part::on_done>(second.token, memory_status::done));
  EXPECT_EQ(desk.recalled, std::vector{second_lent.id});
  EXPECT_EQ(how, "under way");
  arrive(to_module<&memory_part::on_done>(std::get<0>(sent[0]).token, memory_status::done));
  EXPECT_EQ(desk.recalled.size(), 2U);
  EXPECT_EQ(how, "well");
}

TEST_P(caller_of_copies, sends_a_piece_that_the_peer_cannot_copy_in_messages) {
  begin(40'000);
  const auto sent = said_by<&memory_part::on_direct, direct>();
  ASSERT_EQ(sent.size(), 1U);
  arrive(to_module<&memory_part::on_done>(std::get<0>(sent[0]).token, memory_status::unreachable));
  EXPECT_EQ(desk.recalled.size(), 1U);
  EXPECT_EQ(desk.loans.size(), 1U) << "lent once more";
  const auto again = puts() ? said_by<&memory_part::on_put, std::tuple<memory_request, std::vector<std::byte>>>()
                            : said_by<&memory_part::on_get, std::tuple<memory_request, std::vector<std::byte>>>();
  ASSERT_EQ(again.size(), 1U);
  const auto& [asked, data] = again[0];
  EXPECT_EQ(asked.at, 0U);
  EXPECT_EQ(asked.bytes, 40'000U);
  EXPECT_NE(asked.token, std::get<0>(sent[0]).token);
  EXPECT_EQ(data, puts() ? own : std::vector<std::byte>());
  EXPECT_EQ(how, "under way");
  const std::vector<std::byte> arrived(40'000, std::byte{6});
  arrive(puts() ? to_module<&memory_part::on_done>(asked.token, memory_status::done)
                : to_module<&memory_part::on_data>(asked.token, memory_bytes(arrived)));
  EXPECT_EQ(how, "well");
  EXPECT_EQ(own[39'999], puts() ? std::byte{3} : std::byte{6});
}

TEST_P(caller_of_copies, is_told_what_has_failed_and_why) {
  begin(40'000);
  const auto sent = said_by<&memory_part::on_direct, direct>();
  ASSERT_EQ(sent.size(), 1U);
  arrive(to_module<&memory_part::on_done>(std::get<0>(sent[0]).token, memory_status::out_of_range));
  EXPECT_EQ(how, std::string(puts() ? "put" : "get") +
                     " of 40000 bytes at byte 10 of memory 4 of rank 2 (1048576 bytes) failed: the range does not lie "
                     "inside the memory");
}

TEST_P(caller_of_copies, does_not_lend_short_pieces_nor_to_peers_out_of_reach) {
  for (const bool reach : {true, false}) {
    desk.reach = reach;
    begin(reach ? 1000 : 40'000);
    EXPECT_TRUE(desk.loans.empty());
    EXPECT_TRUE((said_by<&memory_part::on_direct, direct>().empty()));
    end();
  }
}

TEST_P(caller_of_copies, takes_all_back_when_the_rank_ends) {
  begin(400'000);
  end();
  EXPECT_EQ(desk.recalled.size(), 2U);
}

}  // namespace
}  // namespace nacre::forgery
