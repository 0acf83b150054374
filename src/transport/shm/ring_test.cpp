// SPDX-License-Identifier: Apache-2.0
// The two ends of a ring: every size arrives, room is used and given back, and false words of either end are noticed.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "transport/shm/ring_test_kit.hpp"

namespace nacre::transport::shm {
namespace {

/// Both ends of a small ring.
struct ends {
  explicit ends(bool fetches, std::size_t held_bytes_max = 1u << 20, std::uint64_t data_bytes = small_ring)
      : memory(data_bytes),
        writer(memory.view(), {.held_bytes_max = held_bytes_max, .fetch_bytes_min = 2000}),
        reader(memory.view(), test_limits(fetches)) {
    if (fetches) reader.offer_to_fetch();
  }
  void submit(message_ptr m) {
    message_list batch;
    batch.push_back(std::move(m));
    writer.submit(batch);
    EXPECT_TRUE(batch.empty());
  }
  ring_memory memory;
  ring_writer writer;
  ring_reader reader;
  message_list arrived;
};

class ring : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(that, ring, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "fetches" : "copies"; });

TEST_P(ring, carries_payloads_of_every_kind_of_size_in_order) {
  ends both(GetParam());
  const std::size_t sizes[] = {0, 1, 16, 17, 64, 65, 1024, 1025, 1999, 2000, 5000, 100000, 16, 0, 300000, 8};
  for (std::uint32_t i = 0; i < std::size(sizes); ++i) {
    both.submit(numbered(i, sizes[i]));
    for (int round = 0; round < 1000 && both.arrived.empty(); ++round) {
      both.reader.receive(both.arrived, enough);
      both.writer.advance();
    }
    ASSERT_EQ(both.arrived.size(), 1U) << sizes[i];
    ASSERT_TRUE(is_numbered(*both.arrived.pop_front(), i, sizes[i])) << sizes[i];
    both.writer.advance();
    ASSERT_FALSE(both.writer.unsent()) << sizes[i];
  }
  EXPECT_FALSE(both.reader.error());
}

TEST_P(ring, keeps_what_it_has_no_room_for_up_to_the_bound_and_asks_to_be_woken) {
  ends both(GetParam(), 4096);
  message_list batch;
  for (std::uint32_t i = 0; i < 200; ++i) batch.push_back(numbered(i, 100));
  both.writer.submit(batch);
  const std::size_t left = batch.size();
  EXPECT_GT(left, 100U);
  EXPECT_LT(left, 200U - 16U) << "16 slots are written, and some more messages kept";
  EXPECT_TRUE(both.writer.unsent());
  EXPECT_FALSE(both.writer.advance());
  EXPECT_TRUE(both.reader.receive(both.arrived, enough));
  EXPECT_EQ(both.arrived.size(), 16U);
  EXPECT_TRUE(both.reader.take_wakeup_request());
  EXPECT_FALSE(both.reader.take_wakeup_request()) << "once for each wish";
  EXPECT_TRUE(both.writer.advance());
  for (int round = 0; round < 100; ++round) {
    both.reader.receive(both.arrived, enough);
    both.writer.submit(batch);
    both.writer.advance();
  }
  ASSERT_EQ(both.arrived.size(), 200U);
  for (std::uint32_t i = 0; i < 200; ++i) ASSERT_TRUE(is_numbered(*both.arrived.pop_front(), i, 100));
}

TEST_P(ring, ends_with_a_shutdown_behind_everything) {
  ends both(GetParam());
  for (std::uint32_t i = 0; i < 40; ++i) both.submit(numbered(i, 3000));
  both.writer.send_shutdown();
  for (int round = 0; round < 1000 && !both.reader.over(); ++round) {
    both.writer.advance();
    both.reader.receive(both.arrived, enough);
  }
  EXPECT_EQ(both.arrived.size(), 40U);
  EXPECT_TRUE(both.reader.over());
  both.writer.advance();
  EXPECT_FALSE(both.writer.unsent());
}

TEST(ring_that_fetches, keeps_a_payload_until_it_has_been_fetched) {
  ends both(true);
  both.submit(numbered(1, 2000));
  EXPECT_TRUE(both.writer.take_published());
  EXPECT_FALSE(both.writer.advance());
  EXPECT_TRUE(both.writer.unsent());
  EXPECT_TRUE(both.reader.receive(both.arrived, enough));
  EXPECT_TRUE(both.reader.take_wakeup_request()) << "the writer may sleep";
  EXPECT_TRUE(both.writer.advance());
  EXPECT_FALSE(both.writer.unsent());
  both.submit(numbered(2, 2000));
  EXPECT_TRUE(both.reader.receive(both.arrived, enough));
  both.submit(numbered(3, 10));
  EXPECT_FALSE(both.writer.unsent()) << "whoever submits gives back what has been fetched by then";
}

TEST(ring_that_fetches, reads_a_very_long_payload_in_parts_so_that_a_poll_stays_short) {
  ends both(true);
  constexpr std::size_t bytes = ring_reader::fetch_bytes_a_call * 5 / 2;
  both.submit(numbered(1, bytes));
  for (int part = 0; part < 3; ++part) {
    EXPECT_TRUE(both.arrived.empty()) << part;
    EXPECT_TRUE(both.reader.receive(both.arrived, enough)) << part;
  }
  ASSERT_EQ(both.arrived.size(), 1U);
  EXPECT_TRUE(is_numbered(*both.arrived.front(), 1, bytes));
}

TEST(ring_that_fetches, delivers_what_has_arrived_before_it_fetches_much_more) {
  ends both(true, 4u << 20);
  constexpr std::size_t bytes = ring_reader::fetch_bytes_delivered * 3 / 4;
  for (std::uint32_t i = 0; i < 3; ++i) both.submit(numbered(i, bytes));
  EXPECT_TRUE(both.reader.receive(both.arrived, enough));
  EXPECT_EQ(both.arrived.size(), 2U);
  EXPECT_TRUE(both.reader.receive(both.arrived, enough));
  EXPECT_EQ(both.arrived.size(), 3U);
  both.submit(numbered(3, ring_reader::fetch_bytes_a_call * 5 / 4));
  EXPECT_TRUE(both.reader.receive(both.arrived, enough));
  EXPECT_EQ(both.arrived.size(), 4U) << "a short rest comes with the first part";
}

TEST(ring_that_fetches, refuses_a_payload_that_its_writer_has_released) {
  ends both(true);
  both.submit(numbered(1, 5000));
  both.writer.drop();
  both.reader.receive(both.arrived, enough);
  EXPECT_TRUE(both.arrived.empty());
  EXPECT_EQ(both.reader.error(), "took a message back before it was fetched");
}

/// A forked process with a copy of this one's memory. It does nothing.
class copy_of_this_process {
 public:
  copy_of_this_process() : id_(::fork()) {
    if (id_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
  }
  copy_of_this_process(const copy_of_this_process&) = delete;
  copy_of_this_process& operator=(const copy_of_this_process&) = delete;
  ~copy_of_this_process() { end(); }
  void end() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(std::exchange(id_, 0), nullptr, 0);
  }
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  pid_t id_;
};

TEST(ring_that_fetches, tells_that_its_writer_has_ended_in_the_middle_of_a_payload) {
  const message_ptr left = numbered(1, 3 * ring_reader::fetch_bytes_a_call);
  copy_of_this_process writer;
  ring_memory memory(small_ring);
  reader_limits limits = test_limits();
  limits.writer = writer.id();
  ring_reader reader(memory.view(), limits);
  slot& first = memory.view().slots[0];
  first.header = left->header;
  first.extra[0] = reinterpret_cast<std::uint64_t>(left->body());
  first.stamp = make_stamp(0, slot_kind::fetch);
  message_list arrived;
  EXPECT_TRUE(reader.receive(arrived, enough)) << "the first part";
  ASSERT_FALSE(reader.error()) << *reader.error();
  writer.end();
  reader.receive(arrived, enough);
  EXPECT_TRUE(arrived.empty());
  EXPECT_EQ(reader.error(), "ended before a message of its could be fetched");
}

TEST(ring_that_fetches, refuses_a_payload_that_its_writer_takes_back_in_the_middle) {
  ends both(true);
  both.submit(numbered(1, 3 * ring_reader::fetch_bytes_a_call));
  both.reader.receive(both.arrived, enough);
  ASSERT_FALSE(both.reader.error());
  both.writer.drop();
  for (int round = 0; round < 3; ++round) both.reader.receive(both.arrived, enough);
  EXPECT_TRUE(both.arrived.empty());
  EXPECT_TRUE(both.reader.error());
}

TEST(ring, breaks_when_its_reader_claims_more_than_was_written) {
  for (int lie = 0; lie < 3; ++lie) {
    ends both(true);
    reader_line& line = *both.memory.view().reader;
    both.submit(numbered(0, 2000));
    EXPECT_FALSE(both.writer.broken());
    if (lie == 0) line.slots_consumed = 2;
    if (lie == 1) line.data_consumed = 64;
    if (lie == 2) line.fetched = 2;
    both.writer.advance();
    EXPECT_TRUE(both.writer.broken()) << lie;
  }
}

TEST(geometry, keeps_all_rings_of_a_rank_below_the_bound_while_they_can_become_smaller) {
  constexpr std::uint64_t memory_max = 16u << 20;
  for (const std::uint32_t ranks : {1U, 2U, 8U, 64U, 128U}) {
    const geometry sizes = geometry::fitting(ranks, 100'000, memory_max);
    EXPECT_LE(sizes.segment_bytes(), memory_max + page_bytes) << ranks;
    EXPECT_GE(sizes.data_bytes, geometry::data_bytes_min);
    EXPECT_EQ(sizes.data_bytes & (sizes.data_bytes - 1), 0U);
  }
  EXPECT_EQ(geometry::fitting(2, 100'000, memory_max).data_bytes, 128u << 10);
  EXPECT_EQ(geometry::fitting(4096, 1, 1).data_bytes, geometry::data_bytes_min);
}

}  // namespace
}  // namespace nacre::transport::shm
