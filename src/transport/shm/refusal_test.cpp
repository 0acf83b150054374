// SPDX-License-Identifier: Apache-2.0
// The reader of a ring may no longer read the memory of the writer: all messages still arrive, in order.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "transport/shm/forbid_test_kit.hpp"
#include "transport/shm/ring_test_kit.hpp"

namespace nacre::transport::shm {
namespace {

/// Both ends of a ring that fetches payloads from 2000 bytes on, in a thread that the kernel later forbids to read.
class refusal : public testing::Test {
 protected:
  refusal() { reader_.offer_to_fetch(); }

  template <class Body>
  static void in_a_thread(Body body) {
    std::thread(body).join();  // the filter ends with it
  }
  static void forbid_reading() { ASSERT_TRUE(forbid(SYS_process_vm_readv, filter_scope::this_thread)); }

  void submit(std::size_t bytes) {
    message_list batch;
    batch.push_back(numbered(static_cast<std::uint32_t>(sizes_.size()), bytes));
    sizes_.push_back(bytes);
    writer_.submit(batch);
    ASSERT_TRUE(batch.empty());
  }
  bool receive() { return reader_.receive(arrived_, arrived_.size() + enough); }
  /// Moves both ends until neither has anything to do.
  void exchange() {
    for (int round = 0; round < 3; ++round) {
      const bool sent = writer_.advance();
      if (receive() || sent) round = 0;
    }
  }
  void expect_everything() {
    EXPECT_FALSE(reader_.error()) << *reader_.error();
    EXPECT_FALSE(writer_.broken());
    EXPECT_FALSE(writer_.unsent());
    ASSERT_EQ(arrived_.size(), sizes_.size());
    for (std::uint32_t i = 0; i < sizes_.size(); ++i) {
      ASSERT_TRUE(is_numbered(*arrived_.pop_front(), i, sizes_[i])) << "message " << i << " of " << sizes_[i];
    }
  }

  ring_memory memory_{small_ring};
  ring_writer writer_{memory_.view(), {.held_bytes_max = 1u << 24, .fetch_bytes_min = 2000}};
  ring_reader reader_{memory_.view(), test_limits()};
  std::vector<std::size_t> sizes_;
  message_list arrived_;
};

TEST_F(refusal, lets_what_was_left_to_be_fetched_come_through_the_ring_in_its_place) {
  in_a_thread([&] {
    submit(5000);
    EXPECT_TRUE(receive());
    EXPECT_EQ(arrived_.size(), 1U);
    forbid_reading();
    for (const std::size_t bytes : {5000, 8, 2000, 100, 100000, 1024, 0, 3000, 17}) submit(bytes);
    EXPECT_TRUE(receive());
    EXPECT_EQ(arrived_.size(), 1U) << "all others stand behind a message that is not there yet";
    EXPECT_TRUE(writer_.unsent());
    exchange();
    for (const std::size_t bytes : {2000, 8, 50000}) submit(bytes);
    exchange();
  });
  expect_everything();
}

TEST_F(refusal, is_told_once_and_nothing_more_is_left_to_be_fetched) {
  in_a_thread([&] {
    forbid_reading();
    submit(5000);
    EXPECT_EQ(reader_.take_refusal(), 0);
    exchange();
    EXPECT_EQ(reader_.take_refusal(), EPERM);
    EXPECT_EQ(reader_.take_refusal(), 0);
    const std::uint64_t fetched = memory_.view().reader->fetched;
    submit(5000);
    exchange();
    EXPECT_EQ(memory_.view().reader->fetched, fetched);
  });
  expect_everything();
}

TEST_F(refusal, wakes_a_writer_that_waits_for_its_payload_to_be_fetched) {
  in_a_thread([&] {
    forbid_reading();
    submit(5000);
    EXPECT_FALSE(writer_.advance()) << "it asks to be woken";
    EXPECT_TRUE(receive());
    EXPECT_TRUE(reader_.take_wakeup_request());
    exchange();
  });
  expect_everything();
}

TEST_F(refusal, of_a_payload_that_was_read_in_part_begins_it_anew) {
  in_a_thread([&] {
    submit(ring_reader::fetch_bytes_a_call * 5 / 2);
    submit(10);
    EXPECT_TRUE(receive());
    forbid_reading();
    exchange();
  });
  expect_everything();
}

TEST_F(refusal, does_not_interrupt_a_message_that_is_going_through_in_fragments) {
  in_a_thread([&] {
    submit(3000);
    for (int i = 0; i < 20; ++i) submit(1500);  // more than the ring holds: one of them has begun
    forbid_reading();
    exchange();
  });
  expect_everything();
}

TEST_F(refusal, is_not_interrupted_by_a_shutdown) {
  in_a_thread([&] {
    submit(100000);
    forbid_reading();
    EXPECT_TRUE(receive());
    EXPECT_TRUE(writer_.advance()) << "as much of it as the ring holds";
    EXPECT_TRUE(writer_.unsent());
    writer_.send_shutdown();
    exchange();
    EXPECT_TRUE(reader_.over());
  });
  expect_everything();
}

TEST_F(refusal, is_served_behind_a_shutdown) {
  in_a_thread([&] {
    for (int i = 0; i < 5; ++i) submit(4000);
    writer_.send_shutdown();
    writer_.advance();
    forbid_reading();
    EXPECT_TRUE(receive());
    EXPECT_FALSE(reader_.over()) << "the shutdown has come, but not the messages in front of it";
    exchange();
    EXPECT_TRUE(reader_.over());
  });
  expect_everything();
}

TEST_F(refusal, keeps_what_is_submitted_afterwards_with_its_writer_until_the_rest_is_through) {
  in_a_thread([&] {
    forbid_reading();
    submit(5000);
    EXPECT_TRUE(receive());
    for (int i = 0; i < 100; ++i) submit(8);
    EXPECT_FALSE(receive()) << "the reader would have to hold it";
    exchange();
  });
  expect_everything();
}

TEST_F(refusal, that_a_writer_notices_late_finds_it_taking_back_all_that_it_has_left_since) {
  in_a_thread([&] {
    submit(4000);
    forbid_reading();
    message_list batch;
    for (int i = 0; i < 10; ++i) {
      batch.push_back(numbered(static_cast<std::uint32_t>(sizes_.size()), 4000));
      sizes_.push_back(4000);
    }
    writer_.submit(batch);  // the reader still offers to fetch; its next fetch is refused
    EXPECT_TRUE(receive());
    submit(6);
    exchange();
  });
  expect_everything();
}

}  // namespace
}  // namespace nacre::transport::shm
