// SPDX-License-Identifier: Apache-2.0
// The promises of every backend about one rank's endpoint: ownership, channels, threads, and close.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "transport/conformance/streams.hpp"

namespace nacre::transport::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

class ends : public ::testing::TestWithParam<subject> {};

INSTANTIATE_TEST_SUITE_P(every_backend, ends, ::testing::ValuesIn(every_backend_with({2})),
                         [](const auto& each) { return name_of(each.param); });

/// Polls `endpoint` until `count` messages have come, or patience ends; lets virtual time pass meanwhile.
message_list receive(job& under_test, endpoint& endpoint, std::size_t count) {
  message_list arrived;
  const auto deadline = steady_clock::now() + patience;
  while (arrived.size() < count && steady_clock::now() < deadline) {
    if (endpoint.poll(arrived, 64)) continue;
    if (endpoint.declared().virtual_time) {
      if (!under_test.net().advance()) break;
    } else {
      endpoint.wait(milliseconds(1));
    }
  }
  EXPECT_EQ(arrived.size(), count);
  return arrived;
}

message_list numbered_messages(rank_id source, std::uint32_t count, std::uint32_t payload_bytes) {
  message_list batch;
  for (std::uint32_t i = 0; i < count; ++i) {
    batch.push_back(numbered_message(source, channel::application, i, payload_bytes));
  }
  return batch;
}

TEST_P(ends, messages_that_submit_leaves_stay_the_callers_and_those_that_it_takes_arrive) {
  constexpr std::uint32_t count = 4000;
  constexpr std::uint32_t payload_bytes = 5000;
  job under_test(GetParam(), job::buffers::tight);
  message_list batch = numbered_messages(rank_id(0), count, payload_bytes);
  under_test.at(0).submit(rank_id(1), batch);
  const auto taken = static_cast<std::uint32_t>(count - batch.size());
  EXPECT_GT(taken, 0U);
  for (std::uint32_t i = taken; const message_ptr m = batch.pop_front(); ++i) expect_numbered(*m, i, payload_bytes);

  std::thread sender;  // polls on, because messages that were taken may not have left yet
  std::atomic<bool> is_over{false};
  if (!under_test.declared().virtual_time) {
    sender = std::thread([&] {
      message_list nothing;
      while (!is_over) {
        under_test.at(0).poll(nothing, 1);
        under_test.at(0).wait(milliseconds(1));
      }
      EXPECT_TRUE(nothing.empty());
    });
  }
  message_list arrived = receive(under_test, under_test.at(1), taken);
  for (std::uint32_t i = 0; const message_ptr m = arrived.pop_front(); ++i) expect_numbered(*m, i, payload_bytes);
  is_over = true;
  if (sender.joinable()) sender.join();
  EXPECT_FALSE(under_test.at(0).unsent());
}

/// A message to a handler of a rank, as most are: its header says little else.
message_ptr plain_message(channel channel, std::uint32_t bytes) {
  message_ptr m = make_message(bytes);
  m->header.handler = 500 + bytes;
  m->header.flags = bytes % 2 == 0 ? flag_communication : flag_uncounted;
  m->header.channel = channel;
  for (std::uint32_t i = 0; i < bytes; ++i) m->body()[i] = static_cast<std::byte>(3 * bytes + i);
  return m;
}

TEST_P(ends, plain_messages_arrive_as_they_were_sent_at_a_rank_that_only_polls) {
  job under_test(GetParam());
  message_list arrived;
  const auto poll_both = [&] {
    under_test.at(0).poll(arrived, 1);
    if (!under_test.at(1).poll(arrived, 1)) under_test.net().advance();
  };
  for (const channel channel : {channel::system, channel::application, channel::bulk}) {
    for (int round = 0; round < 3000; ++round) poll_both();  // so long that a transport may poll it less often
    EXPECT_TRUE(arrived.empty());
    for (std::uint32_t bytes = 0; bytes <= 100; ++bytes) {
      message_list single;
      single.push_back(plain_message(channel, bytes));
      under_test.at(0).submit(rank_id(1), single);
      EXPECT_TRUE(single.empty());
      for (const auto deadline = steady_clock::now() + patience; arrived.empty() && steady_clock::now() < deadline;) {
        poll_both();
      }
      const message_ptr m = arrived.pop_front();
      ASSERT_TRUE(m != nullptr && arrived.empty()) << bytes;
      const message_ptr expected = plain_message(channel, bytes);
      ASSERT_EQ(std::memcmp(&m->header, &expected->header, sizeof m->header), 0) << bytes;
      ASSERT_EQ(std::memcmp(m->body(), expected->body(), bytes), 0) << bytes;
    }
  }
}

TEST_P(ends, a_full_channel_holds_up_no_other) {
  constexpr std::uint32_t payload_bytes = 5000;
  job under_test(GetParam(), job::buffers::tight);
  if (!under_test.declared().separate_channels)
    GTEST_SKIP() << "separate_channels is not declared: channels share a link";
  endpoint& sender = under_test.at(0);
  std::uint32_t made_count = 0;
  message_list rest;
  for (; rest.empty() && made_count < 100'000; ++made_count) {
    rest.push_back(numbered_message(rank_id(0), channel::bulk, made_count, payload_bytes));
    sender.submit(rank_id(1), rest);
  }
  ASSERT_FALSE(rest.empty()) << "the link takes everything, so it is no test of a full one";
  for (const channel other : {channel::application, channel::system}) {
    message_list single;
    single.push_back(numbered_message(rank_id(0), other, 0, 8));
    sender.submit(rank_id(1), single);
    EXPECT_TRUE(single.empty());
  }
  // The next polls get the system message before most of the messages that were submitted long before it.
  message_list arrived;
  std::uint32_t bulk_before = 0;
  bool seen = false;
  for (const auto deadline = steady_clock::now() + patience; !seen && steady_clock::now() < deadline;) {
    under_test.at(1).poll(arrived, 1);
    while (const message_ptr m = arrived.pop_front()) {
      seen |= m->header.channel == channel::system;
      bulk_before += !seen && m->header.channel == channel::bulk ? 1 : 0;
    }
  }
  EXPECT_TRUE(seen);
  EXPECT_LT(bulk_before, made_count / 2) << "it has waited for the bulk";
}

/// A body that is a live value, and counts how many of its kind there are.
struct live_body {
  explicit live_body(std::atomic<int>& alive, int content) : alive_(alive), content_(content) { ++alive_; }
  live_body(const live_body&) = delete;
  live_body& operator=(const live_body&) = delete;
  ~live_body() { --alive_; }
  std::atomic<int>& alive_;
  int content_;
};

constexpr body_ops live_ops{.packed_size = nullptr, .pack = nullptr, .destroy = [](message& m) noexcept {
                              reinterpret_cast<live_body*>(m.body())->~live_body();
                            }};

message_ptr live_message(std::atomic<int>& alive, int content) {
  message_ptr m = make_message(sizeof(live_body));
  new (m->body()) live_body(alive, content);
  m->ops = &live_ops;
  return m;
}

TEST_P(ends, live_values_are_handed_over_as_they_are_and_released_once) {
  std::atomic<int> alive{0};
  {
    job under_test(GetParam());
    if (!under_test.declared().by_pointer) GTEST_SKIP() << "by_pointer is not declared: bodies travel as bytes";
    message_list batch;
    for (int i = 0; i < 100; ++i) batch.push_back(live_message(alive, i));
    const message* const first = batch.front();
    under_test.at(0).submit(rank_id(1), batch);
    EXPECT_EQ(alive, 100);
    message_list arrived;
    EXPECT_TRUE(under_test.at(1).poll(arrived, 60));
    EXPECT_EQ(arrived.front(), first) << "the block itself is handed over";
    for (int i = 0; const message_ptr m = arrived.pop_front(); ++i) {
      EXPECT_EQ(m->ops, &live_ops);
      EXPECT_EQ(reinterpret_cast<const live_body*>(m->body())->content_, i);
    }
    EXPECT_EQ(alive, 40);
  }
  EXPECT_EQ(alive, 0) << "what nobody has polled ends with the job";
}

TEST_P(ends, several_threads_submit_at_the_same_time_and_each_keeps_its_order) {
  constexpr std::uint32_t threads = 3;
  constexpr std::uint32_t messages = 2000;
  job under_test(GetParam());
  if (!under_test.declared().concurrent_submit) GTEST_SKIP() << "concurrent_submit is not declared";
  std::vector<std::thread> senders;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    senders.emplace_back([&under_test, thread] {
      // The source that a message names tells the stream of this thread from those of the others.
      for (std::uint32_t i = 0; i < messages;) {
        message_list batch;
        for (std::uint32_t k = 0; k <= i % 3 && i < messages; ++k, ++i) {
          batch.push_back(numbered_message(rank_id(thread), channel::application, i, 16));
        }
        while (!batch.empty()) under_test.at(0).submit(rank_id(1), batch);
      }
    });
  }
  std::vector<std::uint32_t> next(threads);
  message_list arrived = receive(under_test, under_test.at(1), threads * messages);
  while (const message_ptr m = arrived.pop_front()) expect_numbered(*m, next[m->header.source]++, 16);
  for (std::thread& each : senders) each.join();
}

TEST_P(ends, close_flushes_submitted_messages) {
  constexpr std::uint32_t count = 300;
  constexpr std::uint32_t payload_bytes = 20000;
  job under_test(GetParam());
  message_list batch = numbered_messages(rank_id(0), count, payload_bytes);
  under_test.at(0).submit(rank_id(1), batch);
  EXPECT_TRUE(batch.empty()) << "6 MB fit into the usual buffers";
  std::thread closing;
  if (under_test.declared().virtual_time) {
    under_test.at(0).close(patience);
  } else {
    closing = std::thread([&] { under_test.at(0).close(patience); });
  }
  message_list arrived = receive(under_test, under_test.at(1), count);
  for (std::uint32_t i = 0; const message_ptr m = arrived.pop_front(); ++i) expect_numbered(*m, i, payload_bytes);
  if (closing.joinable()) closing.join();
  message_list nothing;
  under_test.at(1).poll(nothing, 1);
  EXPECT_TRUE(nothing.empty());
  EXPECT_FALSE(under_test.at(1).failed());
}

TEST_P(ends, close_returns_in_time_although_the_peer_takes_nothing) {
  job under_test(GetParam());
  message_list batch = numbered_messages(rank_id(0), 1000, 8000);
  under_test.at(0).submit(rank_id(1), batch);
  const auto start = steady_clock::now();
  under_test.at(0).close(milliseconds(50));
  EXPECT_LT(steady_clock::now() - start, patience);
}

TEST_P(ends, a_peer_that_ends_without_a_shutdown_is_a_failure_and_messages_to_it_are_dropped) {
  job under_test(GetParam());
  if (!under_test.declared().separate_processes)
    GTEST_SKIP() << "separate_processes is not declared: nobody dies alone";
  under_test.end(1);
  endpoint& local_end = under_test.at(0);
  std::optional<failure> seen;
  const auto deadline = steady_clock::now() + patience;
  while (!seen && steady_clock::now() < deadline) {
    message_list nothing;
    local_end.poll(nothing, 1);
    seen = local_end.failed();
    if (!seen) local_end.wait(milliseconds(1));
  }
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->peer, rank_id(1));
  EXPECT_FALSE(seen->reason.empty());
  EXPECT_FALSE(seen->announced) << "no launcher has started this job";
  EXPECT_FALSE(local_end.failed()) << "each failure is told once";
  message_list batch = numbered_messages(local_end.rank(), 10000, 4000);
  local_end.submit(rank_id(1), batch);
  EXPECT_TRUE(batch.empty());
}

/// A job that ends in disorder may leave things behind; jobs that begin later in the same process must not meet them.
TEST_P(ends, jobs_after_one_that_ended_in_disorder_are_whole) {
  if (!job(GetParam()).declared().separate_processes)
    GTEST_SKIP() << "separate_processes is not declared: nobody dies alone";
  constexpr std::uint32_t count = 20;
  for (int round = 0; round < 5; ++round) {
    job(GetParam()).end(1);  // and then rank 0, which has no peer any more
    job next(GetParam());
    message_list batch = numbered_messages(rank_id(1), count, 100);
    message_list arrived;
    message_list nothing;
    for (const auto start = steady_clock::now(); arrived.size() < count && steady_clock::now() - start < patience;) {
      next.at(1).submit(rank_id(0), batch);
      next.at(1).poll(nothing, 1);
      next.at(0).poll(arrived, count);
    }
    const auto failure = next.at(0).failed();
    ASSERT_FALSE(failure) << "in round " << round << ": " << failure->reason;
    ASSERT_EQ(arrived.size(), count) << "in round " << round;
  }
}

}  // namespace
}  // namespace nacre::transport::conformance
