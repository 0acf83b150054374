// SPDX-License-Identifier: Apache-2.0
// News that is collected leaves in time, in order, and none of it is lost.
#include "mobile/location/bulk_news.hpp"

#include <array>
#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace nacre {
namespace {

constexpr std::uint64_t bound = 100;
constexpr rank_id home{3}, other_home{4};

/// The news that has left, by rank, batch after batch.
struct outbox {
  std::map<rank_id, std::vector<bulk_news::batch>> sent;
  bulk_news::sender send = [this](rank_id target, bulk_news::batch news) { sent[target].push_back(std::move(news)); };
};

object_news end_of(std::uint64_t object) { return {.object = object, .gone = 1}; }

TEST(bulk_news, the_first_leaves_at_once_and_so_does_one_after_a_long_silence) {
  bulk_news told(1, bound);
  outbox out;
  static_cast<void>(told.tell(0, home, end_of(1), 1000, out.send));
  EXPECT_EQ(out.sent[home].size(), 1U);
  static_cast<void>(told.tell(0, home, end_of(2), 1000 + bound + 1, out.send));
  EXPECT_EQ(out.sent[home].size(), 2U);
  EXPECT_TRUE(told.empty());
}

TEST(bulk_news, what_follows_within_the_bound_leaves_together_in_order) {
  bulk_news told(1, bound);
  outbox out;
  static_cast<void>(told.flush_overdue(1000, false, out.send));  // else polls would count as rare
  for (std::uint64_t n = 1; n <= 4; ++n) static_cast<void>(told.tell(0, home, end_of(n), 1000 + n, out.send));
  EXPECT_FALSE(told.empty());
  EXPECT_EQ(told.flush_overdue(1003, false, out.send), 1002 + bound) << "the second came at 1002";
  EXPECT_EQ(out.sent[home].size(), 1U);
  EXPECT_EQ(told.flush_overdue(1002 + bound - 1, false, out.send), 1002 + bound);
  EXPECT_EQ(told.flush_overdue(1002 + bound, false, out.send), 0U);
  ASSERT_EQ(out.sent[home].size(), 2U);
  ASSERT_EQ(out.sent[home][1].size(), 3U);
  for (std::uint64_t n = 0; n < 3; ++n) EXPECT_EQ(out.sent[home][1][n].object, n + 2);
  EXPECT_TRUE(told.empty());
}

TEST(bulk_news, a_full_collection_leaves_without_a_flush_and_only_that_one) {
  bulk_news told(1, bound);
  outbox out;
  static_cast<void>(told.tell(0, home, end_of(0), 1000, out.send));
  static_cast<void>(told.tell(0, other_home, end_of(0), 1000, out.send));
  static_cast<void>(told.tell(0, other_home, end_of(1), 1000, out.send));
  for (std::uint64_t n = 1; n <= bulk_news::count_max; ++n)
    static_cast<void>(told.tell(0, home, end_of(n), 1001, out.send));
  ASSERT_EQ(out.sent[home].size(), 2U);
  EXPECT_EQ(out.sent[home][1].size(), bulk_news::count_max);
  EXPECT_EQ(out.sent[other_home].size(), 1U);
  static_cast<void>(told.tell(0, home, end_of(99), 1002, out.send));
  EXPECT_EQ(told.flush_overdue(1003, true, out.send), 0U);
  EXPECT_EQ(out.sent[home].size(), 3U) << "collected after the full one had left";
  EXPECT_EQ(out.sent[other_home].size(), 2U);
  EXPECT_TRUE(told.empty());
}

TEST(bulk_news, a_poll_loop_that_comes_rarely_leaves_nothing_behind) {
  bulk_news told(1, bound);
  outbox out;
  static_cast<void>(told.flush_overdue(1000, false, out.send));
  static_cast<void>(told.tell(0, home, end_of(1), 1000 + 2 * bound - 2, out.send));
  static_cast<void>(told.tell(0, home, end_of(2), 1000 + 2 * bound - 1, out.send));
  EXPECT_EQ(told.flush_overdue(1000 + 2 * bound, false, out.send), 0U);
  EXPECT_EQ(out.sent[home].size(), 2U);
}

TEST(bulk_news, the_poll_loop_is_called_for_the_first_piece_that_waits) {
  bulk_news told(1, bound);
  outbox out;
  EXPECT_FALSE(told.tell(0, home, end_of(1), 1000, out.send)) << "it has left";
  EXPECT_TRUE(told.tell(0, home, end_of(2), 1001, out.send));
  EXPECT_FALSE(told.tell(0, home, end_of(3), 1002, out.send));
  static_cast<void>(told.flush_overdue(1003, true, out.send));
  EXPECT_TRUE(told.tell(0, home, end_of(4), 1004, out.send));
}

TEST(bulk_news, one_rank_is_told_what_waits_for_it_at_once) {
  bulk_news told(2, bound);
  outbox out;
  for (std::size_t context = 0; context < 2; ++context) {
    for (const rank_id target : {home, other_home}) {
      for (std::uint64_t n = 1; n <= 3; ++n) static_cast<void>(told.tell(context, target, end_of(n), 1000, out.send));
    }
  }
  told.flush_to(home, 1001, out.send);
  EXPECT_EQ(out.sent[home].size(), 4U) << "a single and a batch of each context";
  EXPECT_EQ(out.sent[other_home].size(), 2U);
  told.flush_to(home, 1001, out.send);
  EXPECT_EQ(out.sent[home].size(), 4U) << "nothing is sent twice, and no empty batch";
  EXPECT_EQ(told.flush_overdue(1001, true, out.send), 0U);
  EXPECT_EQ(out.sent[home].size(), 4U);
  EXPECT_EQ(out.sent[other_home].size(), 4U);
  EXPECT_TRUE(told.empty());
}

TEST(bulk_news, contexts_collect_apart) {
  bulk_news told(2, bound);
  outbox out;
  static_cast<void>(told.flush_overdue(1000, false, out.send));
  for (std::size_t context = 0; context < 2; ++context) {
    static_cast<void>(told.tell(context, home, end_of(1), 1000, out.send));
    static_cast<void>(told.tell(context, home, end_of(2), 1001 + context, out.send));
  }
  static_cast<void>(told.flush_overdue(1050, false, out.send));
  EXPECT_EQ(told.flush_overdue(1001 + bound, false, out.send), 1002 + bound);
  EXPECT_EQ(out.sent[home].size(), 3U);
  EXPECT_EQ(told.flush_overdue(1002 + bound, false, out.send), 0U);
  EXPECT_EQ(out.sent[home].size(), 4U);
}

TEST(bulk_news, threads_that_tell_and_a_poll_loop_lose_nothing) {
  constexpr std::size_t contexts = 3;
  constexpr std::uint64_t pieces = 20'000;
  bulk_news told(contexts, bound);
  std::array<std::uint64_t, contexts + 1> arrived{};  // by thread; the last is the poll loop's
  std::atomic<std::size_t> telling{contexts};
  const auto counting_by = [&](std::size_t thread) {
    return [&arrived, thread](rank_id, const bulk_news::batch& news) { arrived[thread] += news.size(); };
  };
  std::vector<std::thread> threads;
  for (std::size_t context = 0; context < contexts; ++context) {
    threads.emplace_back([&, context] {
      const bulk_news::sender send = counting_by(context);
      for (std::uint64_t n = 1; n <= pieces; ++n)
        static_cast<void>(told.tell(context, rank_id(n % 5), end_of(n), n, send));
      telling.fetch_sub(1);
    });
  }
  const bulk_news::sender send = counting_by(contexts);
  for (std::uint64_t n = 1; telling.load() != 0; ++n) static_cast<void>(told.flush_overdue(n, n % 7 == 0, send));
  for (std::thread& each : threads) each.join();
  static_cast<void>(told.flush_overdue(0, true, send));
  EXPECT_EQ(arrived[0] + arrived[1] + arrived[2] + arrived[3], contexts * pieces);
  EXPECT_TRUE(told.empty());
}

}  // namespace
}  // namespace nacre
