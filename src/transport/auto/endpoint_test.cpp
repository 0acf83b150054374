// SPDX-License-Identifier: Apache-2.0
// How often a rank polls its near and its far endpoint, with endpoints that only count.
#include "transport/auto/endpoint.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <utility>

namespace nacre::transport::auto_transport {
namespace {

struct counts {
  std::atomic<std::uint64_t> polls{0};
  std::atomic<bool> delivers{false};  // the next poll finds a message
};

class counting_endpoint final : public endpoint {
 public:
  explicit counting_endpoint(counts& counts) : counts_(counts) {}
  rank_id rank() const noexcept override { return rank_id(0); }
  std::uint32_t size() const noexcept override { return 2; }
  const capabilities& declared() const noexcept override { return declared_; }
  void submit(rank_id, message_list& batch) override { batch.clear(); }
  bool poll(message_list& arrived, std::size_t) override {
    ++counts_.polls;
    if (!counts_.delivers.exchange(false)) return false;
    arrived.push_back(make_message(8));
    return true;
  }
  void wait(std::chrono::nanoseconds) override {}
  void wake() noexcept override {}
  std::optional<failure> failed() override { return std::nullopt; }
  bool unsent() const noexcept override { return false; }
  void close(std::chrono::nanoseconds) override {}

 private:
  counts& counts_;
  capabilities declared_;
};

class polls_of_two_ends : public testing::Test {
 protected:
  counts near, far;
  auto_endpoint end{std::make_unique<counting_endpoint>(near), std::make_unique<counting_endpoint>(far), {true, false}};
  message_list arrived;

  /// Polls until a poll leaves the far end out.
  void poll_until_far_is_left_out() {
    for (;;) {
      const std::uint64_t previous = far.polls;
      end.poll(arrived, 64);
      if (far.polls == previous) return;
    }
  }
  /// Whether the next poll includes the far end.
  bool polls_far() {
    const std::uint64_t previous = far.polls;
    end.poll(arrived, 64);
    return far.polls != previous;
  }
};

TEST_F(polls_of_two_ends, a_quiet_far_end_is_left_out_of_most_polls) {
  poll_until_far_is_left_out();
  near.polls = far.polls = 0;
  for (int i = 0; i < 100'000; ++i) end.poll(arrived, 64);
  EXPECT_EQ(near.polls, 100'000U);
  EXPECT_LT(far.polls, 50'000U);
  EXPECT_GT(far.polls, 0U);
}

TEST_F(polls_of_two_ends, a_message_at_a_quiet_far_end_is_found_and_keeps_it_busy) {
  poll_until_far_is_left_out();
  far.delivers = true;
  while (arrived.empty()) end.poll(arrived, 64);
  EXPECT_TRUE(polls_far()) << "who has sent once is likely to send again";
}

TEST_F(polls_of_two_ends, the_far_end_is_polled_after_every_wait_and_after_each_submit_to_it) {
  for (int i = 0; i < 200; ++i) {
    poll_until_far_is_left_out();
    if (i % 2 == 0) {
      end.wait(std::chrono::nanoseconds::zero());
    } else {
      message_list batch;
      batch.push_back(make_message(8));
      end.submit(rank_id(1), batch);
    }
    ASSERT_TRUE(polls_far()) << (i % 2 == 0 ? "a wait" : "a message");
  }
}

}  // namespace
}  // namespace nacre::transport::auto_transport
