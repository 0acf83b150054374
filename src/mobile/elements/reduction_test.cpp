// SPDX-License-Identifier: Apache-2.0
// A reduction combines results in the order of their slots, in whatever order they come.
#include "mobile/elements/reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include <nacre/archive.hpp>
#include <nacre/rng.hpp>

#include "exec/thread_pool_test_kit.hpp"

namespace nacre {
namespace {

message_ptr value(const std::string& text) {
  const std::vector<std::byte> bytes = pack(text);
  message_ptr m = make_message(bytes.size());
  std::copy(bytes.begin(), bytes.end(), m->body());
  return m;
}

/// Concatenates strings: the order shows.
bool concatenate(std::vector<std::byte>& sum, std::span<const std::span<const std::byte>> next, thread_context&) {
  for (const std::span<const std::byte> each : next) {
    const auto left = unpack<std::string>(sum), right = unpack<std::string>(each);
    if (!left || !right) return false;
    sum = pack(*left + *right);
  }
  return true;
}

class array_reductions : public testing::Test {
 protected:
  std::shared_ptr<reduction> make(std::size_t count, reduction::combine fold = concatenate) {
    ended_ = 0;
    return std::make_shared<reduction>(calls_, count, std::move(fold), [this](message_ptr result, thread_context&) {
      ++ended_;
      result_ = std::move(result);
    });
  }
  /// Gives all results, in order.
  void give_all(std::vector<message_ptr> results, reduction::combine fold = concatenate) {
    const auto under_test = make(results.size(), std::move(fold));
    for (std::size_t slot = 0; slot < results.size(); ++slot) under_test->give(slot, std::move(results[slot]), thread);
    EXPECT_EQ(ended_, 0) << "the maker has not asked all givers yet";
    under_test->count_down(thread);
    ASSERT_EQ(ended_, 1);
  }
  [[nodiscard]] std::string text() const { return unpack<std::string>(result_->payload()).value(); }
  /// The failure's text; empty: the result is none.
  [[nodiscard]] std::string failure() const {
    if ((result_->header.flags & flag_failed) == 0) return "";
    const auto* const bytes = reinterpret_cast<const char*>(result_->payload().data());
    return {bytes + 1, result_->payload().size() - 1};  // behind an empty type
  }

  exec_test::threaded_rank rank{exec_test::setting{}};
  thread_context& thread = rank.pool.application();
  pending_calls calls_;
  int ended_ = 0;
  message_ptr result_;
};

TEST_F(array_reductions, combine_in_the_order_of_the_slots_in_whatever_order_results_come) {
  rng random(3);
  for (std::size_t count = 1; count < 12; ++count) {
    std::string wanted;
    for (std::size_t slot = 0; slot < count; ++slot) wanted += static_cast<char>('a' + slot);
    std::vector<std::size_t> order(count + 1);  // the last one is the maker's own count
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int round = 0; round < 20; ++round) {
      for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
      const auto under_test = make(count);
      for (const std::size_t slot : order) {
        EXPECT_EQ(ended_, 0);
        if (slot == count) {
          under_test->count_down(thread);
        } else {
          under_test->give(slot, value(std::string(1, static_cast<char>('a' + slot))), thread);
        }
      }
      ASSERT_EQ(ended_, 1);
      ASSERT_EQ(text(), wanted);
    }
  }
}

TEST_F(array_reductions, leave_out_slots_without_a_value) {
  std::vector<message_ptr> results;
  for (int slot = 0; slot < 5; ++slot) results.push_back(slot % 2 == 0 ? reduction::none() : value("x"));
  give_all(std::move(results));
  EXPECT_EQ(text(), "xx");
}

TEST_F(array_reductions, of_nobody_have_no_value) {
  give_all({});
  EXPECT_TRUE(reduction::is_none(*result_));
  std::vector<message_ptr> results;
  results.push_back(reduction::none());
  give_all(std::move(results));
  EXPECT_TRUE(reduction::is_none(*result_));
}

TEST_F(array_reductions, fail_by_the_first_failure_in_the_order_of_the_slots) {
  std::vector<message_ptr> results;
  results.push_back(value("x"));
  results.push_back(am_engine::make_failure("the second", {}));
  results.push_back(am_engine::make_failure("the third", {}));
  give_all(std::move(results));
  EXPECT_EQ(failure(), "the second");
}

TEST_F(array_reductions, without_a_fold_are_empty_but_still_fail) {
  std::vector<message_ptr> results;
  results.push_back(value("x"));
  results.push_back(value("y"));
  give_all(std::move(results), nullptr);
  EXPECT_EQ(failure(), "");
  EXPECT_EQ(result_->header.payload_bytes, 0U);
  results.clear();
  results.push_back(value("x"));
  results.push_back(am_engine::make_failure("broken", {}));
  give_all(std::move(results), nullptr);
  EXPECT_EQ(failure(), "broken");
}

TEST_F(array_reductions, fail_when_the_fold_throws_or_the_bytes_are_none) {
  std::vector<message_ptr> results;
  for (int slot = 0; slot < 2; ++slot) results.push_back(value("x"));
  give_all(std::move(results), [](auto&, auto, auto&) -> bool { throw std::runtime_error("too large"); });
  EXPECT_NE(failure().find("too large"), std::string::npos) << failure();
  results.clear();
  results.push_back(value("x"));
  results.push_back(make_message(3));
  give_all(std::move(results));
  EXPECT_NE(failure().find("does not decode"), std::string::npos) << failure();
}

TEST_F(array_reductions, take_the_replies_of_calls_and_their_failures) {
  const auto under_test = make(2);
  const std::uint64_t first = reduction::expect(under_test, 0), second = reduction::expect(under_test, 1);
  under_test->count_down(thread);
  EXPECT_EQ(calls_.count(), 2U);
  const auto answer = [&](std::uint64_t number, message_ptr reply) {
    detail::future_state* const call = calls_.close(number);
    ASSERT_NE(call, nullptr);
    call->complete_with(std::move(reply), thread);
    call->release();
  };
  answer(second, value("y"));
  EXPECT_EQ(ended_, 0);
  answer(first, value("x"));
  ASSERT_EQ(ended_, 1);
  EXPECT_EQ(text(), "xy");
  EXPECT_EQ(calls_.count(), 0U);
}

}  // namespace
}  // namespace nacre
