// SPDX-License-Identifier: Apache-2.0
// A future for many: ready with the last of them and not before, in any order.
#include <nacre/when_all.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/when_any.hpp>

#include "exec/thread_pool_test_kit.hpp"

namespace nacre {
namespace {

/// Calls that the test replies to.
class many : public testing::Test {
 protected:
  ~many() override {
    for (detail::future_state* each : states) each->release();
  }
  std::vector<future<int>> calls(std::size_t count) {
    std::vector<future<int>> futures;
    for (std::size_t index = 0; index < count; ++index) {
      auto* const state = new detail::future_value<int>;
      state->acquire();  // as the table of pending calls does
      states.push_back(state);
      futures.emplace_back(state);
    }
    return futures;
  }
  void answer(std::size_t index) {
    const std::vector<std::byte> bytes = pack(static_cast<int>(10 * index));
    message_ptr reply = make_message(bytes.size());
    std::memcpy(reply->body(), bytes.data(), bytes.size());
    states[index]->complete_with(std::move(reply), rank.pool.application());
  }
  void fail(std::size_t index) {
    states[index]->complete_with_error("call " + std::to_string(index), rank.pool.application());
  }

  exec_test::threaded_rank rank{exec_test::setting{}};
  std::vector<detail::future_state*> states;
};

TEST_F(many, are_ready_with_the_last_of_them_and_keep_their_order) {
  future<std::vector<int>> all = when_all(calls(4));
  for (const std::size_t index : {2U, 0U, 3U}) {
    answer(index);
    ASSERT_FALSE(all.ready()) << "ready although call 1 is not answered, after " << index;
  }
  answer(1);
  ASSERT_TRUE(all.ready()) << "not ready although all are answered";
  EXPECT_EQ(all.take(), (std::vector<int>{0, 10, 20, 30}));
}

TEST_F(many, that_are_answered_before_count_too) {
  std::vector<future<int>> parts = calls(3);
  answer(0);
  answer(2);
  future<std::vector<int>> all = when_all(std::move(parts));
  ASSERT_FALSE(all.ready()) << "ready although call 1 is not answered";
  answer(1);
  ASSERT_TRUE(all.ready()) << "not ready although all are answered";
  EXPECT_EQ(all.take(), (std::vector<int>{0, 10, 20}));
  parts = calls(2);
  answer(3);
  answer(4);
  EXPECT_TRUE(when_all(std::move(parts)).ready()) << "not ready although all were answered before";
  EXPECT_TRUE(when_all(std::vector<future<int>>()).ready()) << "not ready although there is nothing to wait for";
}

TEST_F(many, fail_with_the_first_in_the_vector_when_all_are_there) {
  future<std::vector<int>> all = when_all(calls(3));
  fail(2);
  fail(1);
  ASSERT_FALSE(all.ready()) << "ready although call 0 is not answered";
  answer(0);
  ASSERT_TRUE(all.ready());
  try {
    static_cast<void>(all.take());
    ADD_FAILURE() << "no error";
  } catch (const call_error& error) {
    EXPECT_STREQ(error.what(), "call 1");
  }
}

constexpr int deep = 60'000;  // levels; a stack has no room for so many

/// A future for one future for one, to that depth.
future<void> nested(future<void> inner) {
  for (int level = 0; level < deep; ++level) {
    std::vector<future<void>> one;
    one.push_back(std::move(inner));
    inner = when_all(std::move(one));
  }
  return inner;
}
future<std::size_t> nested_any(future<std::size_t> inner) {
  for (int level = 0; level < deep; ++level) inner = when_any(std::move(inner));
  return inner;
}
future<std::tuple<std::monostate>> nested_tuple(future<void> inner) {
  future<void> all = nested(std::move(inner));
  return when_all(std::move(all));
}

/// A call without a result.
class deeply : public many {
 protected:
  future<void> call() {
    auto* const state = new detail::future_value<void>;
    state->acquire();  // as the table of pending calls does
    states.push_back(state);
    return future<void>(state);
  }
  void answer() { states.back()->complete_with(make_message(0), rank.pool.application()); }
};

TEST_F(deeply, nested_ones_may_be_dropped) {
  static_cast<void>(nested(call()));
  static_cast<void>(nested_tuple(call()));
  static_cast<void>(nested_any(when_any(call())));
  answer();  // nothing waits for it any more
}

TEST_F(deeply, nested_ones_become_ready_with_the_innermost) {
  future<void> all = nested(call());
  ASSERT_FALSE(all.ready());
  answer();
  EXPECT_TRUE(all.ready());
  future<std::tuple<std::monostate>> tuple = nested_tuple(call());
  answer();
  EXPECT_TRUE(tuple.ready());
  future<std::size_t> any = nested_any(when_any(call()));
  ASSERT_FALSE(any.ready());
  answer();
  ASSERT_TRUE(any.ready());
  EXPECT_EQ(any.take(), 0U);
}

TEST_F(many, may_be_dropped_with_replies_under_way) {
  { const auto all = when_all(calls(3)); }
  for (const std::size_t index : {0U, 1U, 2U}) answer(index);
}

}  // namespace
}  // namespace nacre
