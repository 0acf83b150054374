// SPDX-License-Identifier: Apache-2.0
// A rank's end over an MPI that the test plays itself: order, bounds, what is no message, and calls that fail.
#include "transport/mpi/endpoint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

namespace nacre::transport::mpi {
namespace {

constexpr rank_id own{0};
constexpr std::uint32_t size = 3;
constexpr slot_shape shape{.slots = 4, .bytes = 256};
constexpr std::uint32_t header_bytes = sizeof(message_header);
constexpr std::uint32_t long_payload = 1000;

/// What the endpoint has asked MPI for, and what the test answers.
struct script {
  struct piece {
    std::uint32_t lane, source;
    std::vector<std::byte> bytes;
  };
  struct call {
    std::string what;  // send, matched, body, receive
    transfer_request request;
    std::span<const std::byte> bytes;
    std::span<std::byte> room;
  };
  std::deque<piece> arriving;
  std::vector<call> calls;
  std::deque<std::uint64_t> complete;  // tickets
  std::uint32_t failing = 0;           // how many of the last ones of those end with an error
  bool pieces_leave_at_once = true;
  bool receiving_fails = false;
  std::string sends_fail_to;  // "1"
  bool echoes = false;        // rank 1 sends pieces back
  std::uint32_t looks = 0;
  std::uint32_t looks_elsewhere = 0;  // at other channels than that on which something has arrived

  [[nodiscard]] std::size_t count(const std::string& what) const {
    return static_cast<std::size_t>(
        std::count_if(calls.begin(), calls.end(), [&](const call& c) { return c.what == what; }));
  }
};

class scripted_port final : public port {
 public:
  explicit scripted_port(script& by) : by_(by) {}

  outcome next(arrival& piece) noexcept override {
    ++by_.looks;
    if (by_.receiving_fails) return outcome::failed;
    if (by_.arriving.empty()) return outcome::nothing;
    if (by_.looks_elsewhere != 0) {
      --by_.looks_elsewhere;
      return outcome::nothing;
    }
    const script::piece& front = by_.arriving.front();
    piece = {front.lane, front.source, static_cast<std::uint32_t>(front.bytes.size())};
    return outcome::done;
  }
  void take(const arrival& piece, std::byte* into) noexcept override {
    const std::vector<std::byte>& bytes = by_.arriving.front().bytes;
    EXPECT_EQ(piece.byte_count, bytes.size());
    std::copy(bytes.begin(), bytes.end(), into);
    by_.arriving.pop_front();
  }
  outcome send(const transfer_request& what, std::span<const std::byte> piece, completion when) noexcept override {
    if (by_.sends_fail_to == std::to_string(what.peer)) return outcome::failed;
    if (by_.echoes) {
      by_.arriving.push_back({what.lane, what.peer, {piece.begin(), piece.end()}});
      return outcome::done;
    }
    by_.calls.push_back({when == completion::matched ? "matched" : "send", what, piece, {}});
    return when == completion::buffered && by_.pieces_leave_at_once ? outcome::done : outcome::pending;
  }
  outcome send_body(const transfer_request& what, std::span<const std::byte> body) noexcept override {
    by_.calls.push_back({"body", what, body, {}});
    return outcome::pending;
  }
  outcome receive_body(const transfer_request& what, std::span<std::byte> body) noexcept override {
    by_.calls.push_back({"receive", what, {}, body});
    return outcome::pending;
  }
  completions completed(std::span<std::uint64_t> tickets) noexcept override {
    completions result;
    for (; result.count < tickets.size() && !by_.complete.empty(); by_.complete.pop_front()) {
      tickets[result.count++] = by_.complete.front();
    }
    result.failed = std::min(std::exchange(by_.failing, 0), result.count);
    return result;
  }
  const char* error() const noexcept override { return "MPI_Pretend: MPI_ERR_OTHER: the test says so"; }

 private:
  script& by_;
};

message_ptr numbered(std::uint32_t sequence, std::uint32_t payload_bytes, channel on = channel::application) {
  message_ptr m = make_message(payload_bytes);
  m->header.sequence = sequence;
  m->header.source = 1;
  m->header.channel = on;
  std::memset(m->body(), static_cast<int>(sequence), payload_bytes);
  return m;
}

class end_over_script : public testing::Test {
 protected:
  script mpi;
  settings how{.shape = shape,
               .output_bytes_max = 64 * 1024,
               .tells_of_failure = false,
               .patience_in_failure = std::chrono::nanoseconds::zero()};
  mpi_endpoint end{own, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(), how};

  /// A message from rank 1 as its pieces travel: whole, or the notice of a body.
  void arrive(std::uint32_t sequence, std::uint32_t payload_bytes, channel on = channel::application) {
    const message_ptr m = numbered(sequence, payload_bytes, on);
    const std::byte* const frame = m->body() - header_bytes;
    const bool whole = header_bytes + payload_bytes <= shape.bytes - slot_bytes_spared;
    mpi.arriving.push_back({static_cast<std::uint32_t>(on), 1,
                            std::vector<std::byte>(frame, frame + header_bytes + (whole ? payload_bytes : 0))});
  }
  /// The body that the endpoint has room for has come.
  void complete_body(std::size_t index) {
    std::vector<script::call> receives;
    for (const auto& each : mpi.calls) {
      if (each.what == "receive") receives.push_back(each);
    }
    std::memset(receives.at(index).room.data(), 0x5a, receives.at(index).room.size());
    mpi.complete.push_back(receives.at(index).request.ticket);
  }
  std::vector<std::uint32_t> polled() {
    message_list arrived;
    for (int turn = 0; turn < 20; ++turn) end.poll(arrived, 100);
    std::vector<std::uint32_t> sequences;
    while (const message_ptr m = arrived.pop_front()) sequences.push_back(m->header.sequence);
    return sequences;
  }
  std::size_t submit(std::uint32_t count, std::uint32_t payload_bytes, channel on = channel::application) {
    message_list batch;
    for (std::uint32_t i = 0; i < count; ++i) batch.push_back(numbered(i, payload_bytes, on));
    end.submit(rank_id(1), batch);
    return count - batch.size();
  }
  void complete_all(const std::string& what) {
    for (const auto& each : mpi.calls) {
      if (each.what == what) mpi.complete.push_back(each.request.ticket);
    }
    mpi.calls.clear();
  }
};

using sequences = std::vector<std::uint32_t>;

TEST_F(end_over_script, what_comes_behind_a_body_waits_for_it_and_other_channels_do_not) {
  arrive(0, 8);
  arrive(1, long_payload);
  arrive(2, 8);
  arrive(3, long_payload);
  arrive(4, 8);
  arrive(5, 8, channel::system);
  EXPECT_EQ(polled(), (sequences{0, 5}));
  complete_body(1);
  EXPECT_EQ(polled(), sequences{}) << "the later body is there first, and waits";
  complete_body(0);
  EXPECT_EQ(polled(), (sequences{1, 2, 3, 4}));
  EXPECT_FALSE(end.failed());
}

TEST_F(end_over_script, a_long_message_is_a_notice_and_a_body_without_a_copy) {
  message_list batch;
  batch.push_back(numbered(7, long_payload));
  const std::byte* const body = batch.front()->body();
  end.submit(rank_id(1), batch);
  ASSERT_EQ(mpi.calls.size(), 2U);
  EXPECT_EQ(mpi.calls[0].bytes.size(), header_bytes);
  EXPECT_EQ(mpi.calls[1].what, "body");
  EXPECT_EQ(mpi.calls[1].bytes.data(), body);
  EXPECT_EQ(mpi.calls[1].bytes.size(), long_payload);
}

TEST_F(end_over_script, a_receiver_that_takes_nothing_bounds_the_pieces_that_leave) {
  submit(1000, 8);
  EXPECT_EQ(mpi.count("send") + mpi.count("matched"), 2 * mpi_endpoint::window);
  EXPECT_EQ(mpi.count("matched"), 2U);
  EXPECT_TRUE(end.unsent());
  complete_all("matched");
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("send") + mpi.count("matched"), 2 * mpi_endpoint::window) << "as many again";
}

TEST_F(end_over_script, a_receiver_that_takes_nothing_bounds_the_bodies_that_leave) {
  submit(10, long_payload);
  EXPECT_EQ(mpi.count("body"), mpi_endpoint::bodies_max);
  complete_all("body");
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("body"), mpi_endpoint::bodies_max);
}

TEST_F(end_over_script, whoever_submits_behind_bodies_that_have_left_starts_the_next_ones) {
  submit(10, long_payload);
  complete_all("body");
  submit(1, long_payload);
  EXPECT_EQ(mpi.count("body"), mpi_endpoint::bodies_max) << "nobody has polled";
}

TEST_F(end_over_script, a_body_that_whoever_submits_finds_complete_is_delivered_by_the_next_poll) {
  arrive(0, long_payload);
  EXPECT_EQ(polled(), sequences{});
  submit(1, long_payload);
  complete_body(0);
  submit(1, long_payload);
  EXPECT_TRUE(mpi.complete.empty());
  EXPECT_EQ(polled(), sequences{0});
}

TEST_F(end_over_script, a_look_begins_few_bodies_and_the_next_ones_wait_for_those_that_are_under_way) {
  constexpr std::uint32_t payload = 400 * 1024;  // more than a look begins; three are more than are under way
  for (std::uint32_t i = 0; i < 4; ++i) arrive(i, payload);
  arrive(4, 8, channel::system);
  message_list arrived;
  for (std::size_t look = 1; look <= 3; ++look) {
    end.poll(arrived, 100);
    EXPECT_EQ(mpi.count("receive"), look);
  }
  ASSERT_EQ(arrived.size(), 1U) << "what is short does not wait for them";
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("receive"), 3U);
  complete_body(1);
  EXPECT_EQ(polled(), sequences{});
  EXPECT_EQ(mpi.count("receive"), 4U);
  for (const std::size_t each : {0, 2, 3}) complete_body(each);
  EXPECT_EQ(polled(), (sequences{0, 1, 2, 3}));
}

TEST_F(end_over_script, bodies_of_a_lost_peer_are_not_begun) {
  for (std::uint32_t i = 0; i < 4; ++i) arrive(i, 600 * 1024);
  message_list arrived;
  for (int look = 0; look < 5; ++look) end.poll(arrived, 100);
  EXPECT_EQ(mpi.count("receive"), 2U);
  mpi.arriving.push_back({0, 1, std::vector<std::byte>(7)});
  EXPECT_EQ(polled(), sequences{});
  EXPECT_TRUE(end.failed());
  complete_body(0);
  EXPECT_EQ(polled(), sequences{0});
  EXPECT_EQ(mpi.count("receive"), 2U);
}

TEST_F(end_over_script, a_full_link_leaves_the_rest_to_its_caller_and_holds_up_no_other_channel) {
  const std::size_t taken = submit(10000, 100);
  EXPECT_LT(taken, 10000U);
  EXPECT_LT(taken * (header_bytes + 100), how.output_bytes_max + 2 * mpi_endpoint::window * 200);
  EXPECT_EQ(submit(10, 100), 0U);
  mpi.calls.clear();
  EXPECT_EQ(submit(1, 8, channel::system), 1U);
  EXPECT_EQ(mpi.count("send"), 1U) << "it leaves at once";
}

TEST_F(end_over_script, pieces_that_mpi_keeps_for_a_while_are_kept_until_it_has_sent_them) {
  mpi.pieces_leave_at_once = false;
  submit(3, 8);
  ASSERT_EQ(mpi.calls.size(), 3U);
  message_list others;  // take the place of whatever has been released too early
  for (std::uint32_t i = 0; i < 10; ++i) others.push_back(numbered(99, 8));
  for (std::uint32_t i = 0; i < 3; ++i) {
    message_header header;
    std::memcpy(&header, mpi.calls[i].bytes.data(), header_bytes);
    EXPECT_EQ(header.sequence, i);
  }
  complete_all("send");
  EXPECT_EQ(polled(), sequences{});
}

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
  complete_all("body");
  mpi.failing = 1;
  EXPECT_EQ(polled(), sequences{});
  const auto seen = end.failed();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->peer, rank_id(1));
}

TEST_F(end_over_script, a_body_that_fails_to_arrive_is_never_delivered) {
  arrive(0, long_payload);
  EXPECT_EQ(polled(), sequences{});
  complete_body(0);
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
  const auto first_failure = [](const script::piece& piece) {
    script other;
    mpi_endpoint victim(own, size, std::make_unique<scripted_port>(other), std::make_shared<shared_state>(),
                        {.shape = shape, .tells_of_failure = false, .patience_in_failure = std::chrono::seconds(0)});
    other.arriving.push_back(piece);
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
  message_header good{.payload_bytes = 8, .source = 1};
  EXPECT_EQ(first_failure({1, 1, frame(good, 48)}), "") << "a good one is none";
  EXPECT_EQ(first_failure({1, 1, frame(good, 47)}), "rank 1 sent a message of another length");
  EXPECT_EQ(first_failure({2, 1, frame(good, 48)}), "rank 1 sent a message on another channel than it belongs to");
  EXPECT_EQ(first_failure({1, 1, frame(good, 7)}), "rank 1 sent something that is no message");
  good.source = 9;
  EXPECT_EQ(first_failure({1, 1, frame(good, 48)}), "rank 1 sent a message from a rank that does not exist");
  EXPECT_EQ(first_failure({1, 77, frame(good, 48)}), "") << "there is nobody to blame";
}

TEST_F(end_over_script, a_goodbye_is_no_failure_but_what_follows_it_is) {
  mpi.arriving.push_back({0, 1, {std::byte{1}}});
  EXPECT_EQ(polled(), sequences{});
  EXPECT_FALSE(end.failed());
  EXPECT_EQ(submit(10, 8), 10U);
  EXPECT_EQ(mpi.calls.size(), 0U) << "nothing goes to a rank that has left";
  arrive(3, 8);  // on its channel there is no goodbye yet
  EXPECT_EQ(polled(), sequences{3});
  arrive(4, 8, channel::system);
  EXPECT_EQ(polled(), sequences{});
  EXPECT_TRUE(end.failed());
}

TEST_F(end_over_script, an_end_without_a_goodbye_is_a_failure) {
  mpi.arriving.push_back({0, 2, {std::byte{2}}});
  EXPECT_EQ(polled(), sequences{});
  const auto seen = end.failed();
  ASSERT_TRUE(seen);
  EXPECT_EQ(describe(*seen), "rank 2 ended without a goodbye");
}

TEST_F(end_over_script, what_arrives_while_somebody_waits_ends_the_wait_and_keeps_its_place) {
  arrive(0, 8);
  arrive(1, 8);
  end.wait(std::chrono::hours(1));
  EXPECT_EQ(polled(), (sequences{0, 1}));
}

TEST_F(end_over_script, who_waits_has_looked_at_every_channel_before_each_sleep) {
  how.pause_max = std::chrono::hours(1);  // the longer it has waited, the longer it sleeps
  mpi_endpoint sleepy{own, size, std::make_unique<scripted_port>(mpi), std::make_shared<shared_state>(), how};
  arrive(0, 8);
  mpi.looks_elsewhere = 100 * port::looks_apart;
  sleepy.wait(std::chrono::seconds(10));
  EXPECT_EQ(mpi.looks_elsewhere, 0U) << "it sleeps beside a message that is there";
  message_list arrived;
  sleepy.poll(arrived, 1);
  EXPECT_EQ(arrived.size(), 1U);
}

TEST_F(end_over_script, who_waits_for_long_looks_seldom) {
  end.wait(std::chrono::milliseconds(200));
  EXPECT_LT(mpi.looks, 1000 * port::looks_apart) << "it keeps the core from those that have work";
}

TEST_F(end_over_script, one_thread_waits_beside_another_that_submits_and_polls) {
  constexpr std::uint32_t messages = 3000;
  mpi.echoes = true;
  std::atomic<bool> over{false};
  std::thread waiting([&] {
    while (!over) end.wait(std::chrono::milliseconds(1));
  });
  message_list arrived;
  for (std::uint32_t i = 0; i < messages; ++i) {
    message_list batch;
    batch.push_back(numbered(i, 8));
    end.submit(rank_id(1), batch);
    EXPECT_TRUE(batch.empty());
    EXPECT_FALSE(end.failed());
    end.poll(arrived, 1);
    if (i % 64 == 0) end.wake();
  }
  while (arrived.size() < messages) end.poll(arrived, 64);
  over = true;
  end.wake();
  waiting.join();
  for (std::uint32_t i = 0; i < messages; ++i) ASSERT_EQ(arrived.pop_front()->header.sequence, i);
}

TEST_F(end_over_script, says_goodbye_on_every_channel_of_every_peer) {
  end.close(std::chrono::seconds(1));
  EXPECT_EQ(mpi.count("send"), (size - 1) * lane_count);
  for (const auto& each : mpi.calls) EXPECT_EQ(each.bytes.size(), 1U);
  for (std::uint32_t lane = 0; lane < lane_count; ++lane) {  // so that the end need not wait for theirs
    mpi.arriving.push_back({lane, 1, {std::byte{1}}});
    mpi.arriving.push_back({lane, 2, {std::byte{1}}});
  }
}

}  // namespace
}  // namespace nacre::transport::mpi
