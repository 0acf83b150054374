// SPDX-License-Identifier: Apache-2.0
// A rank's end over a UCX that the test plays itself: order, bounds, what is no message, and peers that are not
// reached.
#include "transport/ucx/endpoint.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstring>
#include <deque>
#include <functional>
#include <ostream>
#include <utility>

#include "transport/ucx/brief.hpp"

namespace nacre::transport::ucx {
namespace {

constexpr rank_id own{0};
constexpr std::uint32_t ranks = 3;
constexpr std::uint32_t application = 1;  // its lane
constexpr std::size_t output_max = 10'000;
constexpr std::byte ready{1};
constexpr std::byte goodbye{2};

/// What the endpoint has given to UCX, and what UCX is to say at its next progress.
struct script {
  struct sent {
    std::uint32_t peer, lane;
    frame_kind what;
    stamp with;
    std::size_t bytes;
    std::uint64_t ticket;
  };
  std::vector<sent> frames;
  std::deque<std::function<void(listener&)>> next;
  std::vector<std::function<void(listener&)>> before_first_signs;
  outcome sends_are = outcome::done;
};

class scripted_port final : public port {
 public:
  explicit scripted_port(script& by) : by_(by) {}
  void tell(listener& whom) noexcept override { to_ = &whom; }
  std::span<const std::byte> address(std::uint32_t) const noexcept override { return {}; }
  bool connect(std::uint32_t, std::uint32_t, std::span<const std::byte>, reach) noexcept override { return true; }
  outcome send(std::uint32_t peer, std::uint32_t lane, frame_kind what, const stamp& with,
               std::span<const std::byte> frame, std::uint64_t ticket) noexcept override {
    if (frame.empty() && what == frame_kind::message && !is_brief(with)) {  // a sign of life is answered by one
      for (auto& each : std::exchange(by_.before_first_signs, {})) by_.next.push_back(std::move(each));
      by_.next.push_back(
          [=](listener& to) { to.arrived(lane, frame_kind::message, {.key = peer, .source = peer}, {}); });
      return outcome::done;
    }
    by_.frames.push_back({peer, lane, what, with, frame.size(), ticket});
    return by_.sends_are;
  }
  outcome flush(std::uint32_t, std::uint32_t, std::uint64_t) noexcept override { return outcome::done; }
  bool progress(std::uint32_t) noexcept override {
    if (by_.next.empty()) return false;
    const auto what = std::move(by_.next.front());
    by_.next.pop_front();
    what(*to_);
    return true;
  }
  bool arm(std::uint32_t) noexcept override { return by_.next.empty(); }
  int descriptor(std::uint32_t lane) const noexcept override { return bells_[lane].get(); }
  void disconnect() noexcept override {}
  const char* error() const noexcept override { return "the test says so"; }

 private:
  script& by_;
  std::array<net::unique_fd, lane_count> bells_{net::unique_fd(::eventfd(0, EFD_CLOEXEC)),
                                                net::unique_fd(::eventfd(0, EFD_CLOEXEC)),
                                                net::unique_fd(::eventfd(0, EFD_CLOEXEC))};
  listener* to_ = nullptr;
};

/// The frame of a message whose bytes all are its sequence.
std::vector<std::byte> frame(std::uint32_t sequence, std::uint32_t payload_bytes = 8,
                             channel on = channel::application) {
  const message_header header{.payload_bytes = payload_bytes, .source = 1, .sequence = sequence, .channel = on};
  std::vector<std::byte> bytes(sizeof header + payload_bytes, static_cast<std::byte>(sequence));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

class end_over_played_ucx : public testing::Test {
 protected:
  end_over_played_ucx() {
    endpoint_parts parts{.rank = own,
                         .end = std::make_unique<scripted_port>(ucx_),
                         .peers = std::vector<std::optional<peer_parts>>(ranks),
                         .line = nullptr,
                         .output_bytes_max = output_max};
    for (std::uint32_t peer = 1; peer < ranks; ++peer) {
      std::array<int, 2> ends{};
      EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
      lifelines_[peer].reset(ends[1]);
      parts.peers[peer] = peer_parts{.lifeline = net::unique_fd(ends[0]), .key_here = peer, .key_there = 100 + peer};
    }
    end_.emplace(std::move(parts));
  }

  void meet() {
    for (std::uint32_t peer = 1; peer < ranks; ++peer) say(peer, ready);
    end_->meet(std::chrono::steady_clock::now() + std::chrono::seconds(30));
  }
  void say(std::uint32_t peer, std::byte what) { EXPECT_EQ(::send(lifelines_[peer].get(), &what, 1, 0), 1); }

  /// Rank 1 sends a frame with the number in its stamp.
  void arrive(std::uint32_t number, std::vector<std::byte> bytes, std::uint32_t lane = application,
              std::uint64_t key = 1) {
    ucx_.next.push_back([=, bytes = std::move(bytes)](listener& to) {
      to.arrived(lane, frame_kind::message, {.key = key, .source = 1, .sequence = number}, bytes);
    });
  }

  /// Polls until UCX has nothing more to say, and returns the sequences of what has come.
  std::vector<std::uint32_t> receive() {
    std::vector<std::uint32_t> result;
    for (int quiet = 0; quiet < 8; quiet = ucx_.next.empty() ? quiet + 1 : 0) {
      message_list arrived;
      end_->poll(arrived, 100);
      while (const message_ptr m = arrived.pop_front()) {
        result.push_back(m->header.sequence);
        for (const std::byte each : m->payload()) EXPECT_EQ(each, static_cast<std::byte>(m->header.sequence));
      }
    }
    return result;
  }

  /// What rank 1 is told to have done, once a sleep has made the end look aside.
  std::string failure_of_1() {
    end_->wait(std::chrono::nanoseconds::zero());
    receive();
    const auto seen = end_->failed();
    if (!seen) return "";
    EXPECT_EQ(seen->peer, rank_id(1));
    return seen->reason;
  }

  std::size_t submit(std::uint32_t to, std::size_t count, std::uint32_t payload_bytes, channel on) {
    message_list batch;
    for (std::size_t i = 0; i < count; ++i) {
      message_ptr m = make_message(payload_bytes);
      m->header.channel = on;
      batch.push_back(std::move(m));
    }
    end_->submit(rank_id(to), batch);
    return batch.size();
  }

  using sequences = std::vector<std::uint32_t>;
  script ucx_;
  std::array<net::unique_fd, ranks> lifelines_;
  std::optional<ucx_endpoint> end_;
};

message_ptr small_message(std::uint32_t handler, std::uint32_t payload_bytes) {
  message_ptr m = make_message(payload_bytes);
  std::memset(m->body(), 7, payload_bytes);
  m->header.handler = handler;
  m->header.source = own.value();
  m->header.flags = flag_communication;
  return m;
}

TEST_F(end_over_played_ucx, a_message_that_a_peer_may_still_read_outlives_the_end_and_others_do_not) {
  static int ended;
  ended = 0;
  static constexpr body_ops counting{nullptr, nullptr, [](message&) noexcept { ++ended; }, true};
  meet();
  for (const outcome how : {outcome::pending, outcome::done}) {
    ucx_.sends_are = how;
    message_list batch;
    batch.push_back(make_message(5000));
    batch.front()->ops = &counting;
    end_->submit(rank_id(1), batch);
  }
  EXPECT_EQ(ended, 1);
  end_.reset();
  EXPECT_EQ(ended, 1);
}

TEST_F(end_over_played_ucx, a_small_message_to_a_rank_travels_without_its_header_and_arrives_with_it) {
  meet();
  message_list batch;
  batch.push_back(small_message(513, 8));
  batch.push_back(small_message(513, 0));
  batch.push_back(small_message(513, brief_bytes_max + 1));
  batch.push_back(small_message(1u << 16, 8));
  batch.push_back(small_message(513, 8));
  batch.push_back(small_message(513, 8));
  message* each = batch.front()->next->next->next->next;
  each->header.object = 5;
  each->next->header.sequence = 5;
  end_->submit(rank_id(1), batch);
  ASSERT_EQ(ucx_.frames.size(), 6U);
  EXPECT_EQ(ucx_.frames[0].bytes, 8U);
  EXPECT_EQ(ucx_.frames[1].bytes, 0U);
  for (std::size_t i = 2; i < 6; ++i) {
    EXPECT_GE(ucx_.frames[i].bytes, sizeof(message_header) + 8) << i;
    EXPECT_FALSE(is_brief(ucx_.frames[i].with)) << i;
  }

  const std::vector<std::byte> payload(8, std::byte{7});
  ucx_.next.push_back([&](listener& to) {
    stamp of = ucx_.frames[0].with;
    of.key = 1;
    of.source = 1;
    to.arrived(application, frame_kind::message, of, payload);
  });
  message_list arrived;
  while (arrived.empty()) end_->poll(arrived, 100);
  message_header expected = small_message(513, 8)->header;
  expected.source = 1;
  EXPECT_EQ(std::memcmp(&arrived.front()->header, &expected, sizeof expected), 0);
  EXPECT_EQ(std::memcmp(arrived.front()->body(), payload.data(), payload.size()), 0);
}

TEST_F(end_over_played_ucx, a_brief_frame_that_may_not_be_is_the_end_of_the_peer_that_sends_it) {
  meet();
  ucx_.next.push_back([](listener& to) {
    to.arrived(application, frame_kind::message, {.key = 1, .source = 1, .form = 0x80 | 15 << 3}, {});
  });
  receive();
  EXPECT_NE(failure_of_1().find("unknown kind"), std::string::npos);
  const std::vector<std::byte> long_one(brief_bytes_max + 1);
  ucx_.next.push_back([&](listener& to) {
    to.arrived(application, frame_kind::message, {.key = 2, .source = 2, .form = 0x80}, long_one);
  });
  receive();
  const auto seen = end_->failed();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->peer, rank_id(2));
  EXPECT_NE(seen->reason.find("too long"), std::string::npos);
}

TEST_F(end_over_played_ucx, the_short_numbers_of_small_messages_keep_their_order_beyond_their_end) {
  meet();
  const std::vector<std::byte> none;
  std::size_t seen = 0;
  for (std::uint32_t number = 0; number < 140'000; number += 2) {
    for (const std::uint32_t now : {number + 1, number}) {  // the first of two comes too late
      ucx_.next.push_back([=](listener& to) {
        stamp of{.key = 1, .source = 1, .sequence = now};
        message_header header{.handler = now % 1000, .source = 1};
        EXPECT_TRUE(abridge(header, application, of));
        to.arrived(application, frame_kind::message, of, {});
      });
    }
    message_list arrived;
    while (arrived.size() < 2) end_->poll(arrived, 100);
    while (const message_ptr m = arrived.pop_front()) {
      ASSERT_EQ(m->header.handler, seen % 1000);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 140'000U);
}

TEST_F(end_over_played_ucx, what_comes_early_is_held_until_its_turn) {
  meet();
  arrive(1, frame(1));
  arrive(3, frame(3));
  EXPECT_EQ(receive(), sequences{});
  arrive(0, frame(0));
  EXPECT_EQ(receive(), (sequences{0, 1}));
  arrive(2, frame(2));
  arrive(4, frame(4));
  EXPECT_EQ(receive(), (sequences{2, 3, 4}));
}

TEST_F(end_over_played_ucx, what_is_announced_holds_its_place_until_it_is_there) {
  meet();
  const auto body = frame(0, 5000);
  listener::place into;
  ucx_.next.push_back([&](listener& to) {
    into = to.place_for(application, frame_kind::message, {.key = 1, .source = 1}, body.size());
  });
  arrive(1, frame(1));
  arrive(0, frame(7, 8, channel::system), 0);
  EXPECT_EQ(receive(), sequences{7}) << "another channel is not held";
  ASSERT_NE(into.at, nullptr);
  std::memcpy(into.at, body.data(), body.size());
  ucx_.next.push_back([&](listener& to) { to.ended(into.ticket, true); });
  EXPECT_EQ(receive(), (sequences{0, 1}));
}

TEST_F(end_over_played_ucx, what_a_peer_sends_before_this_rank_has_met_all_is_kept) {
  ucx_.before_first_signs.push_back(
      [](listener& to) { to.arrived(application, frame_kind::message, {.key = 1, .source = 1}, frame(0)); });
  meet();
  EXPECT_EQ(receive(), sequences{0});
}

TEST_F(end_over_played_ucx, frames_of_strangers_are_dropped_without_a_word) {
  meet();
  arrive(0, frame(0), application, 2);  // the key of another rank
  ucx_.next.push_back(
      [](listener& to) { to.arrived(application, frame_kind::message, {.key = 1, .source = 77}, frame(0)); });
  ucx_.next.push_back([](listener& to) {
    EXPECT_EQ(to.place_for(application, frame_kind::message, {.key = 5, .source = 1}, 1 << 20).at, nullptr);
  });
  EXPECT_EQ(receive(), sequences{});
  EXPECT_EQ(failure_of_1(), "");
  arrive(0, frame(0));
  EXPECT_EQ(receive(), sequences{0});
}

struct nonsense {
  friend void PrintTo(const nonsense& what, std::ostream* out) { *out << what.title; }
  const char* title;
  const char* words;
  std::function<void(std::vector<std::byte>&)> spoil;
  std::uint32_t lane = application;
  std::uint32_t number = 0;
};

const nonsense all_nonsense[] = {
    {"shorter_than_a_header", "no message", [](auto& bytes) { bytes.resize(20); }},
    {"cut_off", "another length", [](auto& bytes) { bytes.pop_back(); }},
    {"on_a_lane_of_others", "another channel", [](auto&) {}, 0},
    {"unknown_kind", "unknown kind", [](auto& b) { b[offsetof(message_header, kind)] = std::byte{200}; }},
    {"in_anothers_name", "name", [](auto& b) { b[offsetof(message_header, source)] = std::byte{0}; }},
    {"long_past", "out of its turn", [](auto&) {}, application, 0xffffffff},
};

class nonsense_over_played_ucx : public end_over_played_ucx, public testing::WithParamInterface<nonsense> {};

INSTANTIATE_TEST_SUITE_P(each, nonsense_over_played_ucx, testing::ValuesIn(all_nonsense),
                         [](const auto& which) { return which.param.title; });

TEST_P(nonsense_over_played_ucx, is_the_end_of_the_peer_that_sends_it) {
  meet();
  auto bytes = frame(0);
  GetParam().spoil(bytes);
  arrive(GetParam().number, bytes, GetParam().lane);
  EXPECT_EQ(receive(), sequences{});
  EXPECT_NE(failure_of_1().find(GetParam().words), std::string::npos);
  arrive(0, frame(0));
  EXPECT_EQ(receive(), sequences{}) << "nobody listens to it any more";
  EXPECT_EQ(submit(1, 5, 10, channel::application), 0U);
  EXPECT_TRUE(ucx_.frames.empty()) << "what is meant for it is dropped";
}

TEST_P(nonsense_over_played_ucx, is_found_in_a_long_message_too) {
  meet();
  auto body = frame(0, 5000);
  GetParam().spoil(body);
  listener::place into;
  ucx_.next.push_back([&](listener& to) {
    into = to.place_for(GetParam().lane, frame_kind::message, {.key = 1, .source = 1, .sequence = GetParam().number},
                        body.size());
  });
  receive();
  if (into.at != nullptr) {
    std::memcpy(into.at, body.data(), body.size());
    ucx_.next.push_back([&](listener& to) { to.ended(into.ticket, true); });
  }
  EXPECT_EQ(receive(), sequences{});
  EXPECT_NE(failure_of_1().find(GetParam().words), std::string::npos);
}

TEST_F(end_over_played_ucx, what_is_under_way_is_bounded_from_the_oldest_on) {
  meet();
  ucx_.sends_are = outcome::pending;
  EXPECT_GT(submit(1, 100, 960, channel::bulk), 70U);
  EXPECT_EQ(ucx_.frames.size(), 10U) << "10 kB";
  EXPECT_TRUE(end_->unsent());
  // All but the oldest end: the receiver may hold them, so nothing else may follow yet.
  for (std::size_t i = 1; i < 10; ++i) {
    ucx_.next.push_back([ticket = ucx_.frames[i].ticket](listener& to) { to.ended(ticket, true); });
  }
  receive();
  EXPECT_EQ(ucx_.frames.size(), 10U);
  EXPECT_EQ(submit(1, 1, 8, channel::system), 0U) << "a full channel holds up no other";
  EXPECT_EQ(ucx_.frames.size(), 11U);
  ucx_.next.push_back([ticket = ucx_.frames[0].ticket](listener& to) { to.ended(ticket, true); });
  receive();
  EXPECT_EQ(ucx_.frames.size(), 21U);
  for (std::uint32_t number = 0; number < 10; ++number) {
    EXPECT_EQ(ucx_.frames[number].with.sequence, number);
    EXPECT_EQ(ucx_.frames[number].with.key, 101U) << "what rank 1 has asked for";
    EXPECT_EQ(ucx_.frames[number].with.source, own.value());
  }
}

TEST_F(end_over_played_ucx, a_peer_that_is_not_reached_any_more_is_judged_by_its_lifeline) {
  meet();
  for (const std::uint32_t peer : {1U, 2U}) {
    ucx_.next.push_back([peer](listener& to) { to.broken(peer, 0, "Connection reset"); });
  }
  receive();
  EXPECT_EQ(submit(1, 3, 8, channel::application), 0U);
  EXPECT_TRUE(ucx_.frames.empty());
  EXPECT_FALSE(end_->failed()) << "it may have said goodbye";
  say(2, goodbye);
  lifelines_[1].reset();
  EXPECT_NE(failure_of_1().find("without a goodbye"), std::string::npos);
  EXPECT_FALSE(end_->failed()) << "rank 2 has left in order";
}

TEST_F(end_over_played_ucx, what_a_peer_has_sent_before_its_goodbye_still_arrives) {
  meet();
  say(1, goodbye);
  lifelines_[1].reset();
  EXPECT_EQ(failure_of_1(), "");
  arrive(0, frame(0));
  EXPECT_EQ(receive(), sequences{0});
  EXPECT_EQ(submit(1, 1, 8, channel::application), 0U);
  EXPECT_TRUE(ucx_.frames.empty());
}

}  // namespace
}  // namespace nacre::transport::ucx
