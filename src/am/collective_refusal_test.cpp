// SPDX-License-Identifier: Apache-2.0
// Collectives that ranks call differently, messages that no rank may send, and how many may be open.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "am/collective_test_kit.hpp"

namespace nacre {
namespace {

TEST(collective_engine, gathered_bytes_that_are_none_are_refused) {
  bytes all;
  detail::append_part(all, bytes_of(std::uint32_t{7}));
  EXPECT_EQ(detail::parts_of(all).size(), 1U);
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    EXPECT_THROW(static_cast<void>(detail::parts_of(std::span(all).first(cut))), std::runtime_error);
  }
  all.assign(8, std::byte{255});
  EXPECT_THROW(static_cast<void>(detail::parts_of(all)), std::runtime_error);
}

TEST(collective_engine, several_may_be_open_at_a_time_up_to_a_bound) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    rng random(seed);
    const auto size = static_cast<std::uint32_t>(1 + random.below(12));
    shuffled_machine::program calls;
    for (std::uint32_t n = 0; n < 40; ++n) {
      const auto root = static_cast<std::uint32_t>(random.below(size));
      if (n % 2 == 0)
        calls.emplace_back(broadcast_from(root));
      else
        calls.emplace_back([n](rank_id self) { return sum_of(n + self.value()); });
    }
    shuffled_machine m(size, 2, seed);
    m.run(calls, collective_engine::outstanding_max);
    ASSERT_TRUE(m.complete(40)) << "seed " << seed;
    ASSERT_FALSE(m.refused);
    for (std::uint32_t n = 1; n < 40; n += 2) {
      ASSERT_EQ(value_of<double>(m.result(size - 1, n)), n * size + size * (size - 1) / 2.0);
    }
  }
}

TEST(collective_engine, every_mismatch_between_any_two_groups_of_ranks_is_reported) {
  const std::vector<std::function<collective_call(rank_id)>> kinds = {
      barrier_call,
      broadcast_from(0),
      broadcast_from(1),
      broadcast_from(2),
      [](rank_id) { return sum_of(1); },
      [](rank_id self) { return spell(collective_kind::all_reduce, self); },
      [](rank_id self) { return spell(collective_kind::scan, self); },
      [](rank_id self) { return spell(collective_kind::gather, self); },
      [](rank_id self) { return spell(collective_kind::end_of_main, self); }};
  for (std::uint32_t size = 2; size <= 6; ++size) {
    for (std::uint32_t group = 1; group + 1 < (1u << size); ++group) {
      for (std::size_t one = 0; one < kinds.size(); ++one) {
        const std::size_t other = (one + 1 + group % (kinds.size() - 1)) % kinds.size();
        if (size == 2 && (one == 3 || other == 3)) continue;  // there is no rank 2
        shuffled_machine m(size, 1 + group % 3, group * 10 + one);
        m.run({[&](rank_id self) { return kinds[(group >> self.value() & 1) != 0 ? one : other](self); }});
        ASSERT_TRUE(m.mismatch.has_value()) << size << " ranks, group " << group << ", " << one << " and " << other;
        EXPECT_NE((group >> m.mismatch->one.rank.value()) & 1, (group >> m.mismatch->other.rank.value()) & 1);
      }
    }
  }
}

TEST(collective_engine, a_mismatch_is_told_in_words_that_name_both_ranks) {
  const collective_mismatch two_calls{.number = 7,
                                      .one = {rank_id{0}, collective_kind::barrier, rank_id{0}},
                                      .other = {rank_id{3}, collective_kind::broadcast, rank_id{1}}};
  const auto begins = [](const nacre::collective_mismatch& each, const std::string& line) {
    return describe(each).rfind("collective number " + line + ". Every main makes the same collective calls", 0) == 0;
  };
  EXPECT_TRUE(
      begins(two_calls, "7 is not the same on all ranks: rank 0 calls barrier, rank 3 calls broadcast with root 1"));
  EXPECT_TRUE(begins({.number = 1,
                      .one = {rank_id{0}, collective_kind::end_of_main, rank_id{0}},
                      .other = {rank_id{3}, collective_kind::array, rank_id{0}}},
                     "1 is not the same on all ranks: rank 0 has left its main, rank 3 makes or destroys an array"));
  EXPECT_TRUE(
      begins({.number = 1,
              .one = {rank_id{0}, collective_kind::scan, rank_id{0}, 1},
              .other = {rank_id{2}, collective_kind::scan, rank_id{0}, 2}},
             "1 is not the same on all ranks: rank 0 calls scan, rank 2 calls scan with values of another type"));
}

TEST(collective_engine, refuses_messages_that_nobody_may_send_and_goes_on_unharmed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    shuffled_machine m(1 + seed % 20, 3, seed);
    m.forge = true;
    m.run({barrier_call, broadcast_from(0), [](rank_id self) { return sum_of(self.value()); }, barrier_call});
    ASSERT_TRUE(m.complete(4)) << "seed " << seed;
    ASSERT_FALSE(m.forgery_taken) << "seed " << seed;
    ASSERT_FALSE(m.refused);
  }
}

TEST(collective_engine_death, starting_more_than_the_bound_says_what_to_do) {
  class silent final : public collective_host {
    void send(rank_id, collective_message) override {}
    void complete(std::uint32_t, bytes) override {}
    void mismatch(const collective_mismatch&) override {}
  } host;
  collective_engine engine({.self = rank_id{1}, .size = 2});
  for (std::uint32_t n = 0; n < collective_engine::outstanding_max; ++n) engine.start(host, {});
  EXPECT_DEATH(engine.start(host, {}), "wait for one of them");
}

}  // namespace
}  // namespace nacre
