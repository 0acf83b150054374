// SPDX-License-Identifier: Apache-2.0
// Each message of a main within its process takes room until its end, of any kind, and never stops main for ever.
#include "am/main_ledger.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <thread>
#include <utility>

#include <nacre/handler.hpp>

namespace nacre {
namespace {

using words = std::tuple<std::string>;

message_ptr counted_message(std::size_t bytes) {
  message_ptr m = make_message(sizeof(words));
  ::new (static_cast<void*>(m->body())) words(std::string(bytes, 'x'));
  m->ops = &detail::body_of<words>::ops;
  return m;
}

struct ledger_of_4096 {
  int woken = 0;
  main_ledger ledger{4096, [this] { ++woken; }};
  message_list sent;

  void send(message_ptr m) {
    ledger.hold(*m);
    sent.push_back(std::move(m));
  }
  void fill() {
    while (!ledger.over()) send(counted_message(100));
  }
};

TEST(main_ledger, counts_live_and_packed_messages_until_they_are_released) {
  ledger_of_4096 of;
  of.send(counted_message(1000));
  EXPECT_GE(of.ledger.held(), 1000U);
  of.send(make_message(2000));
  EXPECT_GE(of.ledger.held(), 3000U);
  EXPECT_FALSE(of.ledger.over());
  of.send(counted_message(1000));
  EXPECT_TRUE(of.ledger.over());
  of.sent.clear();
  EXPECT_EQ(of.ledger.held(), 0U);
}

TEST(main_ledger, counts_values_that_their_handler_has_taken_by_what_they_were) {
  ledger_of_4096 of;
  message_ptr m = counted_message(1000);
  of.ledger.hold(*m);
  const std::string taken = std::get<0>(std::move(detail::body_of<words>::values(*m)));
  m.reset();
  EXPECT_EQ(of.ledger.held(), 0U);
}

TEST(main_ledger, lets_a_message_go_that_is_packed_for_another_process) {
  ledger_of_4096 of;
  message_ptr m = counted_message(1000);
  of.ledger.hold(*m);
  m = packed_form(std::move(m));
  EXPECT_EQ(of.ledger.held(), 0U);
  EXPECT_EQ(m->ops, nullptr);
  EXPECT_EQ(m->header.payload_bytes, packed_size(std::string(1000, 'x')));
}

TEST(main_ledger, wakes_once_when_half_is_done_and_opens_at_the_next_look) {
  ledger_of_4096 of;
  of.fill();
  of.ledger.set_waiting(true);
  of.ledger.look(std::chrono::nanoseconds(0));
  EXPECT_TRUE(of.ledger.over());
  while (of.ledger.held() > 2048) {
    EXPECT_EQ(of.woken, 0);
    static_cast<void>(of.sent.pop_front());
  }
  EXPECT_EQ(of.woken, 1);
  static_cast<void>(of.sent.pop_front());
  EXPECT_EQ(of.woken, 1);
  of.ledger.look(std::chrono::nanoseconds(1));
  EXPECT_FALSE(of.ledger.over());
}

TEST(main_ledger, lets_main_send_more_when_what_it_sent_waits_for_that) {
  ledger_of_4096 of;
  of.fill();
  of.ledger.set_waiting(true);
  std::chrono::nanoseconds now(0);
  of.ledger.look(now);
  of.ledger.look(now + main_ledger::patience / 2);
  EXPECT_TRUE(of.ledger.over());
  of.ledger.look(now + main_ledger::patience);
  EXPECT_FALSE(of.ledger.over());
  const std::uint64_t before = of.ledger.held();
  of.fill();
  EXPECT_GE(of.ledger.held(), before + 1024) << "a quarter more at a time";
  EXPECT_LT(of.ledger.held(), before + 1024 + 400);
  of.sent.clear();
  of.ledger.look(now);
  of.fill();
  EXPECT_LT(of.ledger.held(), 4096U + 400) << "the bound holds again";
}

TEST(main_ledger, may_end_before_its_messages) {
  message_list left;
  {
    main_ledger ledger(4096, [] { FAIL() << "nobody waits any more"; });
    ledger.set_waiting(true);
    while (!ledger.over()) {
      message_ptr m = counted_message(100);
      ledger.hold(*m);
      left.push_back(std::move(m));
    }
  }
  std::thread other([&] { left.clear(); });
  other.join();
}

}  // namespace
}  // namespace nacre
