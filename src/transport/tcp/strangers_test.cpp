// SPDX-License-Identifier: Apache-2.0
// Foreign connections to a job over sockets: they change nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "join/net/wait.hpp"
#include "transport/tcp/member_test_kit.hpp"

namespace nacre::transport::tcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A job of two ranks, both open, and the lines that they have logged.
class pair_of_ranks {
 public:
  pair_of_ranks() : fabric_(2, {}, [this](std::string_view line) { log(line); }) {
    std::thread other([this] { ends_[1] = fabric_.open(rank_id(1)); });
    ends_[0] = fabric_.open(rank_id(0));
    other.join();
  }

  [[nodiscard]] const local_fabric& net() const noexcept { return fabric_; }
  [[nodiscard]] endpoint& at(std::size_t rank) { return *ends_[rank]; }

  [[nodiscard]] std::vector<std::string> lines() {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }

  /// Sends a message from rank 0 to rank 1 and back.
  void exchange() {
    message_list batch;
    batch.push_back(make_message(100));
    at(0).submit(rank_id(1), batch);
    message_list arrived;
    const auto deadline = steady_clock::now() + member_patience;
    for (const std::size_t rank : {1UL, 0UL}) {
      while (arrived.empty() && steady_clock::now() < deadline) {
        if (!at(rank).poll(arrived, 1)) at(rank).wait(milliseconds(1));
        EXPECT_FALSE(at(rank).failed());
      }
      ASSERT_EQ(arrived.size(), 1U);
      arrived.front()->header.source = 1;
      if (rank == 1) at(1).submit(rank_id(0), arrived);
    }
  }

  /// Exchanges messages until `count` lines have been logged.
  void exchange_until_lines(std::size_t count) {
    const auto deadline = steady_clock::now() + member_patience;
    while (lines().size() < count && steady_clock::now() < deadline && !::testing::Test::HasFailure()) exchange();
    EXPECT_EQ(lines().size(), count);
  }

 private:
  void log(std::string_view line) {
    const std::scoped_lock lock(mutex_);
    lines_.emplace_back(line);
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;  // under mutex_
  local_fabric fabric_;
  std::unique_ptr<endpoint> ends_[2];
};

TEST(tcp, a_stranger_that_sends_garbage_during_the_job_changes_nothing_and_is_logged_once) {
  pair_of_ranks job;
  job.exchange();
  const net::unique_fd stranger = net::start_connect(*net::address::parse(job.net().address_of(rank_id(0))));
  net::wait_until(stranger.get(), true, steady_clock::now() + member_patience);
  const std::string garbage(5000, '\xff');
  EXPECT_GT(net::send_some(stranger.get(), garbage.data(), garbage.size()), 0);
  job.exchange_until_lines(1);
  EXPECT_EQ(job.lines()[0].find("nacre: rank 0 refused a peer at 127.0.0.1:"), 0U) << job.lines()[0];
}

TEST(tcp, a_stranger_without_the_secret_is_refused_while_the_job_goes_on) {
  pair_of_ranks job;
  std::thread stranger([&] {
    const job_secret another = job_secret::generate();
    const auto outcome =
        net::call(*net::address::parse(job.net().address_of(rank_id(1))),
                  {.secret = another, .local = identity_of(job.net(), 0)}, steady_clock::now() + member_patience);
    EXPECT_FALSE(outcome);
  });
  job.exchange_until_lines(1);
  stranger.join();
  EXPECT_NE(job.lines()[0].find("secret"), std::string::npos) << job.lines()[0];
}

TEST(tcp, a_second_claim_to_a_rank_that_is_connected_is_refused) {
  pair_of_ranks job;
  std::thread twin([&] { static_cast<void>(call_rank_zero(job.net(), identity_of(job.net(), 1))); });
  job.exchange_until_lines(1);
  twin.join();
  EXPECT_NE(job.lines()[0].find("rank 1 is connected already"), std::string::npos) << job.lines()[0];
}

TEST(tcp, a_crowd_of_silent_connections_does_not_slow_the_job_down) {
  pair_of_ranks job;
  std::vector<net::unique_fd> crowd;
  for (int i = 0; i < 200; ++i) {
    crowd.push_back(net::start_connect(*net::address::parse(job.net().address_of(rank_id(0)))));
    if (i % 10 == 0) job.exchange();
  }
  for (int i = 0; i < 100; ++i) job.exchange();
}

}  // namespace
}  // namespace nacre::transport::tcp
