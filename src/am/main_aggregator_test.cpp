// SPDX-License-Identifier: Apache-2.0
// Bundles of main to objects of its own rank: what shares one, how large they are, and until when they wait.
#include "am/main_aggregator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "am/bundle.hpp"
#include "exec/thread_pool_test_kit.hpp"

namespace nacre {
namespace {

using joined = main_aggregator::joined;
using opened = main_aggregator::opened;

constexpr std::size_t payload_bytes = 8, part_bytes = bundle::part_bytes(payload_bytes);
constexpr std::uint32_t short_handler = 3;

/// A rank without running threads: items that are made ready wait in its scheduler.
class bundles_of_main : public testing::Test {
 protected:
  bundles_of_main() { under_test.note_ticks(short_handler, 0); }

  message_ptr next_message(message_kind kind, std::size_t bytes = payload_bytes) {
    message_ptr m = make_message(bytes);
    m->header.kind = kind;
    m->header.channel = channel::application;
    m->header.handler = short_handler;
    m->header.sequence = sent++;
    return m;
  }
  joined to_object(std::size_t bytes = payload_bytes) {
    message_ptr m = next_message(message_kind::object, bytes);
    const joined manner = under_test.append_to_object(m);
    EXPECT_EQ(m == nullptr, manner != joined::no) << "a message is lost or doubled";
    return manner;
  }
  opened to_workers() { return under_test.append(next_message(message_kind::rank)); }
  /// Messages join bundles from the second one on.
  void begin() {
    EXPECT_EQ(to_object(), joined::no) << "the last message was long ago";
    sent = 0;
  }
  /// The numbers in the closed bundles, one after the other.
  std::vector<std::uint32_t> numbers() const {
    std::vector<std::uint32_t> all;
    for (const message_ptr& each : closed) {
      for (std::size_t offset = 0; offset < each->header.payload_bytes;) {
        bundle::part part;
        if (!bundle::read_part(each->payload(), offset, {.sender = 0, .ranks = 2}, part)) return {};
        all.push_back(part.header.sequence);
      }
    }
    return all;
  }
  /// The bytes of the next bundle that is closed because it is full.
  std::size_t full_bundle() {
    const std::size_t previous = closed.size();
    for (int messages = 0; closed.size() == previous && messages < 1000; ++messages) to_object();
    return closed.size() == previous ? 0 : closed.back()->header.payload_bytes;
  }
  /// The items that were made ready since the last call.
  std::vector<work*> made_ready() {
    std::vector<work*> all;
    while (work* const item = rank.order.pop(main.id())) all.push_back(item);
    return all;
  }

  exec_test::threaded_rank rank{exec_test::setting{}};
  thread_context& main = rank.pool.application();
  main_send_window window{1 << 20, [] {}};
  exec_test::function_item for_objects{[](thread_context&) {}};
  std::uint32_t sent = 0;
  std::vector<message_ptr> closed;
  // Far more than a test takes, and less than the time since instant 0.
  main_aggregator under_test{main,
                             {.bytes_max = 8192,
                              .bound_ticks = rank.pool.instant() / 2,
                              .short_ticks = 1,
                              .window = &window,
                              .to_objects = [this](message_ptr m) -> work* {
                                closed.push_back(std::move(m));
                                return &for_objects;
                              }}};
};

TEST_F(bundles_of_main, begin_with_the_second_message_of_a_burst_and_keep_the_order) {
  begin();
  EXPECT_EQ(under_test.since(), 0U);
  EXPECT_EQ(to_object(), joined::first);
  EXPECT_NE(under_test.since(), 0U);
  EXPECT_EQ(to_object(), joined::yes);
  while (closed.size() < 4 && sent < 1000) to_object();
  ASSERT_EQ(closed.size(), 4U);
  under_test.flush(main);
  EXPECT_EQ(under_test.since(), 0U);
  std::vector<std::uint32_t> all(sent);
  for (std::uint32_t n = 0; n < sent; ++n) all[n] = n;
  EXPECT_EQ(numbers(), all);
  EXPECT_EQ(made_ready(), std::vector<work*>(closed.size(), &for_objects));
}

TEST_F(bundles_of_main, grow_when_they_are_full_and_shrink_when_main_waits) {
  begin();
  const auto whole_parts = [](std::size_t room) { return room / part_bytes * part_bytes; };
  for (std::size_t room = 512; room <= 8192; room *= 2) EXPECT_EQ(full_bundle(), whole_parts(room));
  EXPECT_EQ(full_bundle(), whole_parts(8192)) << "the largest there is";
  under_test.flush(main);
  for (int round = 0; round < 3; ++round) {
    to_object();
    under_test.flush(main);
  }
  const std::size_t shrunk = full_bundle();
  EXPECT_LT(shrunk, 2048U);
  for (int round = 0; round < 20; ++round) {
    to_object();
    under_test.flush(main);
  }
  EXPECT_EQ(full_bundle(), whole_parts(512)) << "the smallest there is";
}

TEST_F(bundles_of_main, take_no_message_that_would_fill_half_of_the_largest_one) {
  begin();
  to_object();
  EXPECT_EQ(to_object(5000), joined::no);
  EXPECT_EQ(closed.size(), 1U) << "the message would overtake those before it";
  EXPECT_EQ(made_ready(), std::vector<work*>{&for_objects});
  EXPECT_EQ(to_object(2000), joined::first);
}

TEST_F(bundles_of_main, are_closed_for_a_message_that_goes_alone) {
  begin();
  under_test.close_for_objects();
  EXPECT_TRUE(closed.empty());
  to_object();
  to_object();
  under_test.close_for_objects();
  EXPECT_EQ(numbers(), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(made_ready(), std::vector<work*>{&for_objects});
  EXPECT_EQ(under_test.since(), 0U);
  under_test.close_for_objects();
  EXPECT_EQ(closed.size(), 1U);
}

/// There are bundles for workers and bundles for objects, and one time since which some message waits.
TEST_F(bundles_of_main, to_workers_are_closed_for_a_message_that_goes_alone) {
  static_cast<void>(to_workers());  // the last message was long ago
  EXPECT_EQ(to_workers(), opened::yes);
  EXPECT_EQ(made_ready().size(), 1U);
  message_ptr alone = next_message(message_kind::rank);
  alone->header.handler = short_handler + 1;
  EXPECT_EQ(under_test.append(std::move(alone)), opened::no);
  EXPECT_EQ(made_ready().size(), 2U) << "it does not overtake the bundle";
  EXPECT_EQ(under_test.since(), 0U);
}

TEST_F(bundles_of_main, wait_since_the_oldest_message_of_either_form) {
  begin();
  static_cast<void>(to_workers());
  ASSERT_EQ(to_workers(), opened::yes);
  const std::uint64_t since = under_test.since();
  ASSERT_NE(since, 0U);
  for (int bundles = 0; bundles < 3; ++bundles) {
    EXPECT_EQ(to_object(), joined::first);
    EXPECT_EQ(under_test.since(), since) << "the older message waits for ever while new bundles begin";
    under_test.close_for_objects();
    EXPECT_EQ(under_test.since(), since) << "nobody looks at the message for the workers any more";
  }
  to_object();
  static_cast<void>(under_test.append(next_message(message_kind::rank, 5000)));  // closes the bundle for workers
  EXPECT_NE(under_test.since(), 0U) << "nobody looks at the message for the object any more";
  under_test.flush(main);
  EXPECT_EQ(closed.size(), 4U);
  EXPECT_EQ(under_test.since(), 0U);
}

TEST_F(bundles_of_main, take_the_room_of_their_parts_in_the_window) {
  begin();
  for (int messages = 0; messages < 100; ++messages) to_object();
  EXPECT_EQ(window.used(), 100 * part_bytes);
  under_test.flush(main);
  ASSERT_GT(closed.size(), 1U);
  closed.pop_back();
  EXPECT_LT(window.used(), 100 * part_bytes);
  closed.clear();
  EXPECT_EQ(window.used(), 0U);
}

}  // namespace
}  // namespace nacre
