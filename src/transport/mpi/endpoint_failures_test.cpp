// SPDX-License-Identifier: Apache-2.0
// Fragments that are no messages, calls of MPI that fail, and ends with and without a shutdown.
#include "transport/mpi/endpoint_test_kit.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace nacre::transport::mpi {
namespace {

TEST_F(end_over_script, a_send_that_fails_is_the_failure_of_that_peer) {
  mpi.sends_fail_to = "1";
  EXPECT_EQ(submit(10, 8), 10U) << "everything for it is dropped";
  const auto seen = end.failed();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->peer, rank_id(1));
  EXPECT_NE(seen->reason.find("MPI_Pretend: MPI_ERR_OTHER"), std::string::npos) << seen->reason;
  EXPECT_FALSE(end.failed()) << "told once";
}

TEST_F(end_over_script, a_transfer_that_fails_later_is_the_failure_of_that_peer) {
  submit(1, long_payload);
  complete_all("payload");
  mpi.failing = 1;
  EXPECT_EQ(polled(), sequences{});
  const auto seen = end.failed();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->peer, rank_id(1));
}

TEST_F(end_over_script, a_payload_that_fails_to_arrive_is_never_delivered) {
  arrive(0, long_payload);
  EXPECT_EQ(polled(), sequences{});
  complete_payload(0);
  mpi.failing = 1;
  EXPECT_EQ(polled(), sequences{});
  EXPECT_TRUE(end.failed());
}

TEST_F(end_over_script, receiving_that_fails_is_the_failure_of_everything) {
  mpi.receiving_fails = true;
  EXPECT_EQ(polled(), sequences{});
  const auto seen = end.failed();
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->peer);
  EXPECT_EQ(submit(10, 8), 10U);
  EXPECT_EQ(mpi.count("send"), 0U) << "MPI is left alone";
}

TEST_F(end_over_script, what_is_no_message_is_the_failure_of_its_sender) {
  const auto first_failure = [](const script::fragment& fragment) {
    script other;
    mpi_endpoint victim(local_rank, size, std::make_unique<scripted_port>(other), std::make_shared<shared_state>(),
                        {.shape = shape, .tells_of_failure = false, .patience_in_failure = std::chrono::seconds(0)});
    other.arriving.push_back(fragment);
    message_list arrived;
    victim.poll(arrived, 10);
    const auto seen = victim.failed();
    EXPECT_TRUE(!seen || arrived.empty());
    return seen ? describe(*seen) : std::string();
  };
  const auto frame = [](const message_header& header, std::size_t bytes) {
    std::vector<std::byte> result(bytes);
    std::memcpy(result.data(), &header, std::min(bytes, sizeof header));
    return result;
  };
  const auto compact_of = [](message_kind kind) { return word_of_compact(static_cast<std::uint32_t>(kind) << 3); };
  message_header good{.payload_bytes = 8, .source = 1};
  EXPECT_EQ(first_failure({1, 1, frame(good, 48)}), "") << "a good one is none";
  EXPECT_EQ(first_failure({1, 1, frame(good, 47)}), "rank 1 sent a message of another length");
  EXPECT_EQ(first_failure({2, 1, frame(good, 48)}), "rank 1 sent a message on another channel than it belongs to");
  EXPECT_EQ(first_failure({1, 1, frame(good, 7)}), "rank 1 sent something that is no message");
  const std::vector<std::byte> payload(8);
  EXPECT_EQ(first_failure({1, 1, payload, compact_of(message_kind::reply)}), "");
  EXPECT_EQ(first_failure({1, 1, payload, compact_of(static_cast<message_kind>(15))}),
            "rank 1 sent a message of an unknown kind");
  EXPECT_EQ(first_failure({1, 1, payload, 8}), "rank 1 sent something that is no message");
  EXPECT_EQ(first_failure({1, 1, payload, 3U << compact_bits}), "rank 1 sent something that is no message");
  EXPECT_EQ(first_failure({1, 77, payload, compact_of(message_kind::reply)}), "") << "there is nobody to blame";
  good.source = 9;
  EXPECT_EQ(first_failure({1, 1, frame(good, 48)}), "rank 1 sent a message from a rank that does not exist");
  EXPECT_EQ(first_failure({1, 77, frame(good, 48)}), "") << "there is nobody to blame";
}

TEST_F(end_over_script, a_shutdown_is_no_failure_but_what_follows_it_is) {
  mpi.arriving.push_back({0, 1, {std::byte{1}}});
  EXPECT_EQ(polled(), sequences{});
  EXPECT_FALSE(end.failed());
  EXPECT_EQ(submit(10, 8), 10U);
  EXPECT_EQ(mpi.calls.size(), 0U) << "nothing goes to a rank that has left";
  arrive(3, 8);  // no shutdown has come on its channel yet
  EXPECT_EQ(polled(), sequences{3});
  arrive(4, 8, channel::system);
  EXPECT_EQ(polled(), sequences{});
  EXPECT_TRUE(end.failed());
}

TEST_F(end_over_script, transfers_to_a_rank_that_has_closed_are_no_failure) {
  submit(1, long_payload);
  mpi.arriving.push_back({0, 1, {std::byte{1}}});
  EXPECT_EQ(polled(), sequences{});
  complete_all("payload");
  mpi.failing = 1;
  EXPECT_EQ(polled(), sequences{});
  EXPECT_TRUE(mpi.complete.empty());
  EXPECT_FALSE(end.failed());
}

TEST_F(end_over_script, an_end_without_a_shutdown_is_a_failure) {
  mpi.arriving.push_back({0, 2, {std::byte{2}}});
  EXPECT_EQ(polled(), sequences{});
  const auto seen = end.failed();
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 2 ended without a shutdown");
}

TEST_F(end_over_script, sends_its_shutdown_on_every_channel_of_every_peer) {
  end.close(std::chrono::seconds(1));
  EXPECT_EQ(mpi.count("send"), (size - 1) * channels_per_peer);
  for (const auto& each : mpi.calls) EXPECT_EQ(each.bytes.size(), 1U);
  for (std::uint32_t channel_index = 0; channel_index < channels_per_peer;
       ++channel_index) {  // the endpoint waits for these
    mpi.arriving.push_back({channel_index, 1, {std::byte{1}}});
    mpi.arriving.push_back({channel_index, 2, {std::byte{1}}});
  }
}

}  // namespace
}  // namespace nacre::transport::mpi
