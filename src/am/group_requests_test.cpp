// SPDX-License-Identifier: Apache-2.0
// The promises of group_requests, each as a sentence.
#include "am/group_requests.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nacre {
namespace {

using detail::group_key;

alignas(std::max_align_t) std::byte no_engine[16];  // never used

class request final : public detail::group_request {
 public:
  explicit request(const group_key& key) : group_request(reinterpret_cast<engine&>(no_engine), key) {}
  void run_message(thread_context&, message_ptr) override {}
  void fail(const std::string&, thread_context&) override {}
  void drop() noexcept override { ++drops; }
  int drops = 0;
};

message_ptr empty_message(std::uint32_t number) {
  message_ptr m = make_message(0);
  m->header.sequence = number;
  return m;
}

TEST(group_requests, gives_messages_to_requests_of_their_key_in_the_order_of_both) {
  group_requests table;
  const group_key one{1, 1, 5}, other{1, 1, 6};
  message_ptr m = empty_message(1);
  EXPECT_EQ(table.give(one, m), nullptr);
  EXPECT_EQ(m, nullptr) << "it is kept";
  m = empty_message(2);
  EXPECT_EQ(table.give(one, m), nullptr);
  request first(one), second(one), third(one), fourth(one), elsewhere(other);
  EXPECT_EQ(table.ask(elsewhere), nullptr);
  EXPECT_EQ(table.ask(first)->header.sequence, 1U);
  EXPECT_EQ(table.ask(second)->header.sequence, 2U);
  EXPECT_EQ(table.ask(third), nullptr);
  EXPECT_EQ(table.ask(fourth), nullptr);
  EXPECT_EQ(table.waiting(), 3U);
  m = empty_message(3);
  EXPECT_EQ(table.give(one, m), &third);
  ASSERT_NE(m, nullptr) << "it is the caller's";
  EXPECT_EQ(table.give(one, m), &fourth);
  EXPECT_EQ(table.give(other, m), &elsewhere);
  EXPECT_EQ(table.waiting(), 0U);
}

TEST(group_requests, takes_back_a_request_that_waits_and_no_other) {
  group_requests table;
  const group_key key{1, 1, 5};
  request first(key), second(key);
  EXPECT_FALSE(table.withdraw(first));
  EXPECT_EQ(table.ask(first), nullptr);
  EXPECT_FALSE(table.withdraw(second));
  EXPECT_EQ(table.ask(second), nullptr);
  EXPECT_TRUE(table.withdraw(first));
  EXPECT_FALSE(table.withdraw(first));
  request third(key), last(key);
  EXPECT_EQ(table.ask(third), nullptr);
  EXPECT_EQ(table.ask(last), nullptr);
  EXPECT_TRUE(table.withdraw(third));
  EXPECT_TRUE(table.withdraw(last));
  EXPECT_EQ(table.ask(third), nullptr);
  message_ptr m = empty_message(1);
  EXPECT_EQ(table.give(key, m), &second);
  EXPECT_EQ(table.give(key, m), &third);
  EXPECT_EQ(table.give(key, m), nullptr);
}

TEST(group_requests, gives_what_is_left_of_a_group_to_its_end_and_drops_the_rest_with_itself) {
  request of_group({2, 1, ~std::uint64_t{0}}), of_another({3, 0, 0});
  {
    group_requests table;
    message_ptr m = empty_message(1);
    EXPECT_EQ(table.give({2, ~std::uint32_t{0}, 0}, m), nullptr);
    m = empty_message(2);
    EXPECT_EQ(table.give({1, 1, 0}, m), nullptr);
    EXPECT_EQ(table.ask(of_group), nullptr);
    EXPECT_EQ(table.ask(of_another), nullptr);
    const group_requests::leftovers left = table.end_group(2);
    EXPECT_EQ(left.messages.size(), 1U);
    EXPECT_EQ(left.requests, std::vector<detail::group_request*>{&of_group});
    EXPECT_EQ(table.waiting(), 1U);
  }
  EXPECT_EQ(of_group.drops, 0);
  EXPECT_EQ(of_another.drops, 1);
}

TEST(group_requests, loses_nothing_while_messages_and_requests_come_at_the_same_time) {
  constexpr std::uint32_t count = 20'000, senders = 3;
  group_requests table;
  const group_key key{1, 1, 0};
  std::atomic<std::uint32_t> given{0};
  std::vector<std::thread> threads;
  for (std::uint32_t each = 0; each < senders; ++each) {
    threads.emplace_back([&] {
      for (std::uint32_t number = 0; number < count; ++number) {
        message_ptr m = empty_message(number);
        if (table.give(key, m) != nullptr) ++given;
      }
    });
  }
  std::deque<request> requests;
  std::uint32_t taken = 0, withdrawn = 0;
  while (requests.size() < std::size_t{count} * senders) {
    request& own_request = requests.emplace_back(key);
    if (table.ask(own_request) != nullptr) {
      ++taken;
    } else if (requests.size() % 3 == 0 && table.withdraw(own_request)) {
      ++withdrawn;
    }
  }
  for (std::thread& each : threads) each.join();
  group_requests::leftovers left = table.end_group(1);
  EXPECT_EQ(taken + given + left.messages.size(), count * senders);
  EXPECT_EQ(taken + given + withdrawn + left.requests.size(), requests.size());
  EXPECT_TRUE(left.messages.empty() || left.requests.empty());
}

}  // namespace
}  // namespace nacre
