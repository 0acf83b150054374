// SPDX-License-Identifier: Apache-2.0
// The only peer's socket is registered while a thread sleeps, and not for long otherwise.
#include "transport/tcp/lone_watch.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>

#include "join/net/socket.hpp"
#include "join/net/watch.hpp"

namespace nacre::transport::tcp {
namespace {

/// A watch over one end of a connection.
class lone_watch_over_a_socket : public ::testing::Test {
 protected:
  lone_watch_over_a_socket() : events_(::epoll_create1(EPOLL_CLOEXEC)) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    descriptor_.reset(ends[0]);
    other_.reset(ends[1]);
    watch_.attach(events_.get(), descriptor_.get(), 7);
  }

  void send_a_byte() const { EXPECT_EQ(net::send_some(other_.get(), "x", 1), 1); }
  void poll_many_arrivals() {
    for (int i = 0; i < 100; ++i) watch_.on_arrival();
  }
  /// The events that would wake a sleeper now.
  [[nodiscard]] std::uint32_t seen() const {
    epoll_event event{};
    return ::epoll_wait(events_.get(), &event, 1, 0) == 1 && event.data.u64 == 7 ? event.events : 0;
  }

  net::unique_fd events_;
  net::unique_fd descriptor_;
  net::unique_fd other_;
  lone_watch watch_;
};

TEST_F(lone_watch_over_a_socket, begins_when_somebody_goes_to_sleep) {
  send_a_byte();
  EXPECT_EQ(seen(), 0U);
  EXPECT_TRUE(watch_.before_sleep());
  EXPECT_EQ(seen(), std::uint32_t{EPOLLIN});
}

TEST_F(lone_watch_over_a_socket, says_that_a_sleeper_must_look_again_where_the_kernel_takes_no_more_registrations) {
  lone_watch without_room;
  without_room.attach(-1, descriptor_.get(), 7);
  EXPECT_FALSE(without_room.before_sleep());
  without_room.after_sleep();
  without_room.attach(events_.get(), descriptor_.get(), 7);
  send_a_byte();
  EXPECT_TRUE(without_room.before_sleep());
  EXPECT_NE(seen(), 0U);
}

TEST(no_watch, says_what_to_do_where_a_user_has_too_many) {
  const std::string few = net::no_watch(ENOSPC).what();
  EXPECT_NE(few.find("sysctl fs.epoll.max_user_watches"), std::string::npos) << few;
  EXPECT_EQ(few.find("device"), std::string::npos) << few;
  EXPECT_NE(std::string(net::no_watch(ENOMEM).what()).find("memory"), std::string::npos);
}

TEST_F(lone_watch_over_a_socket, ends_after_many_arrivals_and_begins_again) {
  send_a_byte();
  EXPECT_TRUE(watch_.before_sleep());
  watch_.after_sleep();
  EXPECT_NE(seen(), 0U) << "another sleep is likely";
  poll_many_arrivals();
  EXPECT_EQ(seen(), 0U);
  EXPECT_TRUE(watch_.before_sleep());
  EXPECT_NE(seen(), 0U);
}

TEST_F(lone_watch_over_a_socket, goes_on_while_one_sleeps_and_another_polls) {
  EXPECT_TRUE(watch_.before_sleep());
  poll_many_arrivals();
  send_a_byte();
  EXPECT_NE(seen(), 0U);
  watch_.after_sleep();
  watch_.on_arrival();
  EXPECT_EQ(seen(), 0U) << "the arrivals before count";
}

TEST_F(lone_watch_over_a_socket, wakes_for_the_end_of_a_write_when_one_is_awaited) {
  watch_.set_blocked(true);
  EXPECT_EQ(seen(), 0U);
  EXPECT_TRUE(watch_.before_sleep());
  EXPECT_EQ(seen(), std::uint32_t{EPOLLOUT});
  watch_.set_blocked(false);
  EXPECT_EQ(seen(), 0U);
}

TEST_F(lone_watch_over_a_socket, takes_a_registered_socket_over_and_gives_it_back_registered) {
  EXPECT_TRUE(watch_.before_sleep());
  watch_.after_sleep();
  watch_.give_back();
  send_a_byte();
  EXPECT_NE(seen(), 0U);
  for (const bool unregistered : {true, false}) {
    watch_.adopt(events_.get(), descriptor_.get(), 7, false);
    EXPECT_NE(seen(), 0U);
    if (unregistered) poll_many_arrivals();
    EXPECT_EQ(seen() == 0, unregistered);
    watch_.give_back();
    EXPECT_NE(seen(), 0U);
  }
  poll_many_arrivals();
  EXPECT_NE(seen(), 0U) << "it is none of the watch's business any more";
}

TEST_F(lone_watch_over_a_socket, leaves_a_socket_alone_that_is_about_to_be_closed) {
  EXPECT_TRUE(watch_.before_sleep());
  watch_.after_sleep();
  watch_.detach();
  descriptor_.reset();
  EXPECT_TRUE(watch_.before_sleep());
  watch_.set_blocked(true);
  poll_many_arrivals();
  EXPECT_EQ(seen(), 0U);
}

}  // namespace
}  // namespace nacre::transport::tcp
