// SPDX-License-Identifier: Apache-2.0
// A rank's endpoint over a scripted UCX: frames that are no messages, and peers that are not reached.
#include "transport/ucx/endpoint_test_kit.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <nacre/block.hpp>

#include "base/sanitized.hpp"
#include "transport/frame.hpp"

namespace nacre::transport::ucx {
namespace {

TEST_F(end_over_played_ucx, frames_of_strangers_are_dropped_without_a_word) {
  wait_for_peers();
  arrive(0, frame(0), application, 2);  // the key of another rank
  ucx_.next.push_back([](port_callbacks& callbacks) {
    callbacks.arrived(application, frame_kind::message, {.key = 1, .source = 77}, frame(0));
  });
  ucx_.next.push_back([](port_callbacks& callbacks) {
    const auto place = callbacks.place_for(application, frame_kind::message, {.key = 5, .source = 1}, 1 << 20, {});
    EXPECT_TRUE(place.address == nullptr && !place.later);
  });
  EXPECT_EQ(receive(), sequences{});
  EXPECT_EQ(failure_of_1(), "");
  arrive(0, frame(0));
  EXPECT_EQ(receive(), sequences{0});
}

/// The limit of the memory of this process, which is put back at the end.
class no_more_memory {
 public:
  no_more_memory() {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit nothing{.rlim_cur = 1, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &nothing);
  }
  ~no_more_memory() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST_F(end_over_played_ucx, a_frame_for_which_there_is_no_memory_ends_the_poll_by_an_exception_and_not_the_process) {
  if (tests::sanitized) GTEST_SKIP() << "sanitizers need memory beside the program's";
  constexpr std::uint32_t most = 1u << 29;
  wait_for_peers();
  message_list arrived;
  ucx_.speaks_on = application;
  ucx_.next.push_back([](port_callbacks& callbacks) {
    const message_header header{.payload_bytes = most, .source = 1, .channel = channel::application};
    const std::span frame(reinterpret_cast<const std::byte*>(&header), sizeof header + most);  // nobody reads behind it
    const no_more_memory limit;
    callbacks.arrived(application, frame_kind::message, {.key = 1, .source = 1}, frame);
  });
  const auto poll_all = [&] {
    while (!ucx_.next.empty()) end_->poll(arrived, 100);
  };
  EXPECT_THROW(poll_all(), out_of_blocks);
  announce(0, most);
  poll_all();
  {
    const no_more_memory limit;
    EXPECT_THROW(end_->poll(arrived, 100), out_of_blocks) << "where it is to be fetched";
  }
  EXPECT_FALSE(end_->poll(arrived, 100)) << "once";
  EXPECT_TRUE(arrived.empty());
}

TEST_F(end_over_played_ucx, a_message_that_comes_while_a_channel_is_armed_is_kept_for_the_poll_and_ends_the_sleep) {
  wait_for_peers();
  receive();
  ucx_.speaks_while_arming = true;
  arrive(0, frame(0));
  end_->wait(std::chrono::hours(1));
  EXPECT_TRUE(ucx_.next.empty());
  EXPECT_EQ(receive(), sequences{0});
}

struct nonsense {
  friend void PrintTo(const nonsense& nonsense, std::ostream* out) { *out << nonsense.title; }
  const char* title;
  const char* words;
  std::function<void(std::vector<std::byte>&)> spoil;
  std::uint32_t channel_index = application;
  std::uint32_t number = 0;
};

const nonsense all_nonsense[] = {
    {"shorter_than_a_header", "no message", [](auto& bytes) { bytes.resize(20); }},
    {"cut_off", "another length", [](auto& bytes) { bytes.pop_back(); }},
    {"on_a_channel_of_others", "another channel", [](auto&) {}, 0},
    {"unknown_kind", "unknown kind", [](auto& b) { b[offsetof(message_header, kind)] = std::byte{200}; }},
    {"shutdown_of_another_transport", "unknown kind",
     [](auto& bytes) {
       const auto shutdown = shutdown_frame();
       std::copy(shutdown.begin(), shutdown.end(), bytes.begin());
     },
     0},
    {"in_anothers_name", "name", [](auto& b) { b[offsetof(message_header, source)] = std::byte{0}; }},
    {"long_past", "out of order", [](auto&) {}, application, 0xffffffff},
};

class nonsense_over_played_ucx : public end_over_played_ucx, public testing::WithParamInterface<nonsense> {};

INSTANTIATE_TEST_SUITE_P(each, nonsense_over_played_ucx, testing::ValuesIn(all_nonsense),
                         [](const auto& selection) { return selection.param.title; });

TEST_P(nonsense_over_played_ucx, is_the_end_of_the_peer_that_sends_it) {
  wait_for_peers();
  auto bytes = frame(0);
  GetParam().spoil(bytes);
  arrive(GetParam().number, bytes, GetParam().channel_index);
  EXPECT_EQ(receive(), sequences{});
  EXPECT_NE(failure_of_1().find(GetParam().words), std::string::npos);
  arrive(0, frame(0));
  EXPECT_EQ(receive(), sequences{}) << "nobody listens to it any more";
  EXPECT_EQ(submit(1, 5, 10, channel::application), 0U);
  EXPECT_TRUE(ucx_.frames.empty()) << "what is meant for it is dropped";
}

TEST_P(nonsense_over_played_ucx, is_found_in_a_long_message_too) {
  wait_for_peers();
  auto body = frame(0, 5000);
  GetParam().spoil(body);
  announce(GetParam().number, body.size(), GetParam().channel_index);
  receive();
  if (!ucx_.fetches.empty()) bring(0, body);
  EXPECT_EQ(receive(), sequences{});
  EXPECT_NE(failure_of_1().find(GetParam().words), std::string::npos);
}

TEST_F(end_over_played_ucx, a_peer_that_is_not_reached_any_more_is_judged_by_its_liveness_socket) {
  wait_for_peers();
  for (const std::uint32_t peer : {1U, 2U}) {
    ucx_.next.push_back([peer](port_callbacks& callbacks) { callbacks.broken(peer, 0, "Connection reset"); });
  }
  receive();
  EXPECT_EQ(submit(1, 3, 8, channel::application), 0U);
  EXPECT_TRUE(ucx_.frames.empty());
  EXPECT_FALSE(end_->failed()) << "it may have sent its shutdown";
  say(2, shutdown);
  liveness_sockets_[1].reset();
  EXPECT_NE(failure_of_1().find("without a shutdown"), std::string::npos);
  EXPECT_FALSE(end_->failed()) << "rank 2 has left in order";
}

TEST_F(end_over_played_ucx, messages_that_a_peer_has_sent_before_its_shutdown_still_arrive) {
  wait_for_peers();
  say(1, shutdown);
  liveness_sockets_[1].reset();
  EXPECT_EQ(failure_of_1(), "");
  arrive(0, frame(0));
  EXPECT_EQ(receive(), sequences{0});
  EXPECT_EQ(submit(1, 1, 8, channel::application), 0U);
  EXPECT_TRUE(ucx_.frames.empty());
}

}  // namespace
}  // namespace nacre::transport::ucx
