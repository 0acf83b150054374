// SPDX-License-Identifier: Apache-2.0
// Each message of a main within its process takes room until its end, of any kind, and never stops main for ever.
#include "am/main_send_window.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <nacre/handler.hpp>

namespace nacre {
namespace {

using words = std::tuple<std::string>;
constexpr auto idle = [] { return main_send_window::workers::idle; };

message_ptr counted_message(std::size_t bytes) {
  message_ptr m = make_message(sizeof(words));
  ::new (static_cast<void*>(m->body())) words(std::string(bytes, 'x'));
  m->ops = &detail::body_of<words>::ops;
  return m;
}

struct window_of_4096 {
  int woken = 0;
  main_send_window window{4096, [this] { ++woken; }};
  message_list sent;

  void send(message_ptr m) {
    window.acquire(*m);
    sent.push_back(std::move(m));
  }
  void fill() {
    while (!window.over()) send(counted_message(100));
  }
};

TEST(main_send_window, counts_live_and_packed_messages_until_they_are_released) {
  window_of_4096 window_of_4096;
  window_of_4096.send(counted_message(1000));
  EXPECT_GE(window_of_4096.window.used(), 1000U);
  window_of_4096.send(make_message(2000));
  EXPECT_GE(window_of_4096.window.used(), 3000U);
  EXPECT_FALSE(window_of_4096.window.over());
  window_of_4096.send(counted_message(1000));
  EXPECT_TRUE(window_of_4096.window.over());
  window_of_4096.sent.clear();
  EXPECT_EQ(window_of_4096.window.used(), 0U);
}

TEST(main_send_window, counts_a_bundle_by_its_parts_however_it_is_divided) {
  window_of_4096 window_of_4096;
  message_ptr whole = make_message(600);
  whole->header.kind = message_kind::bundle;
  window_of_4096.window.acquire_bundle(*whole);
  for (int part = 0; part < 3; ++part) window_of_4096.window.grow(200);
  EXPECT_EQ(window_of_4096.window.used(), 600U);
  message_ptr half = make_message(200);
  half->header.kind = message_kind::bundle;
  half->ops = whole->ops;
  whole->header.payload_bytes = 400;
  half.reset();
  EXPECT_EQ(window_of_4096.window.used(), 400U);
  whole.reset();
  EXPECT_EQ(window_of_4096.window.used(), 0U);
}

TEST(main_send_window, loses_nothing_by_the_end_of_a_bundle_whose_parts_have_all_become_messages) {
  window_of_4096 window_of_4096;
  message_ptr whole = make_message(96);
  whole->header.kind = message_kind::bundle;
  window_of_4096.window.acquire_bundle(*whole);
  window_of_4096.window.grow(96);
  window_of_4096.window.set_waiting(true);
  message_list parts;
  for (int part = 0; part < 2; ++part) {
    message_ptr single = make_message(8);
    single->ops = whole->ops;
    parts.push_back(std::move(single));
  }
  whole->header.payload_bytes = 0;
  whole.reset();
  EXPECT_EQ(window_of_4096.woken, 0);
  EXPECT_EQ(window_of_4096.window.used(), 96U);
  parts.clear();
  EXPECT_EQ(window_of_4096.window.used(), 0U);
}

TEST(main_send_window, is_over_as_soon_as_bundles_exceed_it_and_not_after_their_release) {
  window_of_4096 window_of_4096;
  message_ptr whole = make_message(8000);
  whole->header.kind = message_kind::bundle;
  window_of_4096.window.acquire_bundle(*whole);
  for (int part = 0; part < 20; ++part) window_of_4096.window.grow(200);
  EXPECT_FALSE(window_of_4096.window.over());
  window_of_4096.window.grow(4000);
  EXPECT_TRUE(window_of_4096.window.over());
  whole.reset();
  window_of_4096.window.check(std::chrono::nanoseconds(1), idle);
  window_of_4096.send(make_message(100));
  EXPECT_FALSE(window_of_4096.window.over());
}

TEST(main_send_window, counts_values_that_their_handler_has_taken_by_what_they_were) {
  window_of_4096 window_of_4096;
  message_ptr m = counted_message(1000);
  window_of_4096.window.acquire(*m);
  const std::string taken = std::get<0>(std::move(detail::body_of<words>::values(*m)));
  m.reset();
  EXPECT_EQ(window_of_4096.window.used(), 0U);
}

TEST(main_send_window, lets_a_message_go_that_is_packed_for_another_process) {
  window_of_4096 window_of_4096;
  message_ptr m = counted_message(1000);
  window_of_4096.window.acquire(*m);
  m = packed_form(std::move(m));
  EXPECT_EQ(window_of_4096.window.used(), 0U);
  EXPECT_EQ(m->ops, nullptr);
  EXPECT_EQ(m->header.payload_bytes, packed_size(std::string(1000, 'x')));
}

TEST(main_send_window, wakes_once_when_half_is_done_and_opens_at_the_next_check) {
  window_of_4096 window_of_4096;
  window_of_4096.fill();
  window_of_4096.window.set_waiting(true);
  window_of_4096.window.check(std::chrono::nanoseconds(0), idle);
  EXPECT_TRUE(window_of_4096.window.over());
  while (window_of_4096.window.used() > 2048) {
    EXPECT_EQ(window_of_4096.woken, 0);
    static_cast<void>(window_of_4096.sent.pop_front());
  }
  EXPECT_EQ(window_of_4096.woken, 1);
  static_cast<void>(window_of_4096.sent.pop_front());
  EXPECT_EQ(window_of_4096.woken, 1);
  window_of_4096.window.check(std::chrono::nanoseconds(1), idle);
  EXPECT_FALSE(window_of_4096.window.over());
}

TEST(main_send_window, lets_main_send_more_when_what_it_sent_waits_for_that) {
  window_of_4096 window_of_4096;
  window_of_4096.fill();
  window_of_4096.window.set_waiting(true);
  std::chrono::nanoseconds now(0);
  window_of_4096.window.check(now, idle);
  window_of_4096.window.check(now + main_send_window::patience / 2, idle);
  EXPECT_TRUE(window_of_4096.window.over());
  window_of_4096.window.check(now + main_send_window::patience, idle);
  EXPECT_FALSE(window_of_4096.window.over());
  const std::uint64_t previous = window_of_4096.window.used();
  window_of_4096.fill();
  EXPECT_GE(window_of_4096.window.used(), previous + previous / 4) << "a quarter more at a time";
  EXPECT_LT(window_of_4096.window.used(), previous + previous / 4 + 400);
  window_of_4096.sent.clear();
  window_of_4096.window.check(now, idle);
  window_of_4096.fill();
  EXPECT_LT(window_of_4096.window.used(), 4096U + 400) << "the bound holds again";
}

TEST(main_send_window, grows_little_and_seldom_while_workers_are_in_long_handlers) {
  constexpr auto busy = [] { return main_send_window::workers::busy; };
  window_of_4096 window_of_4096;
  window_of_4096.fill();
  window_of_4096.window.set_waiting(true);
  window_of_4096.window.check(std::chrono::nanoseconds(0), busy);
  const std::uint64_t previous = window_of_4096.window.used();
  std::chrono::milliseconds now(0);
  for (; now < main_send_window::patience_of_busy; now += main_send_window::patience)
    window_of_4096.window.check(now, busy);
  EXPECT_TRUE(window_of_4096.window.over());
  for (int times = 1; times <= 20; ++times) {
    window_of_4096.window.check(now, busy);
    EXPECT_FALSE(window_of_4096.window.over()) << "handlers that send to themselves may wait for what main sends";
    window_of_4096.fill();
    EXPECT_LT(window_of_4096.window.used(), previous + static_cast<std::uint64_t>(times) * (1024 + 400));
    window_of_4096.window.check(now, busy);  // sees what has been sent
    now += main_send_window::patience_of_busy;
  }
}

TEST(main_send_window, may_end_before_its_messages) {
  message_list left;
  {
    main_send_window window(4096, [] { FAIL() << "nobody waits any more"; });
    window.set_waiting(true);
    while (!window.over()) {
      message_ptr m = counted_message(100);
      window.acquire(*m);
      left.push_back(std::move(m));
    }
  }
  std::thread other([&] { left.clear(); });
  other.join();
}

}  // namespace
}  // namespace nacre
