// SPDX-License-Identifier: Apache-2.0
// The promises of object_entry, each as a sentence.
#include "mobile/entry/object_entry.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "am/handler_table.hpp"

namespace nacre {
namespace {

struct counted {
  static inline int alive = 0;
  counted() { ++alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { --alive; }
  template <class Archive>
  void serialize(Archive&) {}
};

void never_run(work&, thread_context&) {}

std::unique_ptr<object_entry> empty_entry() {
  static_cast<void>(handler_table::get());
  return std::make_unique<object_entry>(object_id(rank_id(1), 5), known_location{rank_id(1), 3}, &never_run);
}

object_state with_object() {
  object_state state;
  state.object = new counted;
  state.type = &detail::type_of<counted>();
  state.pace = 1e-3;
  return state;
}

void hear(streams& order, std::uint32_t source, std::uint32_t sequence) {
  message_ptr m = make_message(0);
  m->header.source = source;
  m->header.sequence = sequence;
  message_list ready;
  EXPECT_EQ(order.admit(m, ready), streams::verdict::admitted);
}

TEST(object_entry, an_object_that_rests_and_has_heard_from_one_rank_needs_one_line) {
  const auto entry = empty_entry();
  object_state state = with_object();
  hear(state.order, 2, 0);
  entry->put_state(state);
  EXPECT_EQ(entry->extra(), nullptr);
  EXPECT_NE(entry->object(), nullptr);
  message_header next;
  next.source = 2;
  next.sequence = 1;
  EXPECT_TRUE(entry->order.admit(next));
}

TEST(object_entry, what_an_object_has_leaves_with_it_and_comes_with_it) {
  const auto entry = empty_entry(), target = empty_entry();
  object_state state = with_object();
  for (const std::uint32_t source : {4U, 2U}) hear(state.order, source, 0);
  void* const object = state.object;
  entry->put_state(state);
  ASSERT_NE(entry->extra(), nullptr) << "for the second stream";
  entry->extra()->need_traffic().sketch.note(object_id(rank_id(1), 4), 100, 7);
  EXPECT_EQ(entry->object(), object);
  object_state left = entry->take_state();
  EXPECT_EQ(entry->object(), nullptr);
  const std::unique_ptr<object_entry_extra> given_up(entry->drop_extra());
  ASSERT_NE(given_up, nullptr);
  EXPECT_EQ(entry->extra(), nullptr);
  EXPECT_EQ(left.object, object);
  EXPECT_EQ(left.epoch, 3U);
  EXPECT_NEAR(left.pace, 1e-3, 1e-3 / 200);
  target->put_state(left);
  EXPECT_EQ(target->object(), object);
  for (const std::uint32_t source : {2U, 4U}) hear(target->extra()->order, source, 1);
  ASSERT_EQ(target->extra()->need_traffic().sketch.partners().size(), 1U);
  EXPECT_EQ(target->extra()->need_traffic().sketch.partners()[0].bytes, 100);
  EXPECT_EQ(counted::alive, 1);
}

TEST(object_entry, an_object_ends_with_its_entry_wherever_it_is_kept) {
  for (const bool with_extra : {false, true}) {
    const auto entry = empty_entry();
    object_state state = with_object();
    entry->put_state(state);
    if (with_extra) static_cast<void>(entry->need_extra());
    EXPECT_EQ(counted::alive, 1);
  }
  EXPECT_EQ(counted::alive, 0);
}

TEST(object_entry, its_extra_is_made_once_whoever_asks_and_whatever_the_object_does) {
  for (int round = 0; round < 300; ++round) {
    const auto entry = empty_entry();
    object_state state = with_object();
    std::vector<object_entry_extra*> object_entry_extras(2);
    std::vector<std::thread> threads;
    for (object_entry_extra*& each : object_entry_extras) {
      threads.emplace_back([&] { each = &entry->need_extra(); });
    }
    entry->put_state(state);
    void* const object = entry->object();
    object_state left = entry->take_state();
    EXPECT_EQ(left.object, object);
    EXPECT_EQ(entry->object(), nullptr);
    entry->put_state(left);
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(object_entry_extras[0], object_entry_extras[1]);
    EXPECT_EQ(entry->extra(), object_entry_extras[0]);
    EXPECT_EQ(entry->object(), object);
  }
  EXPECT_EQ(counted::alive, 0);
}

TEST(object_entry, no_more_references_are_given_than_can_be_counted) {
  const auto entry = empty_entry();
  int given = 0;
  while (entry->add_reference()) ++given;
  EXPECT_GT(given, 100);
  for (; given > 0; --given) entry->release_reference();
}

}  // namespace
}  // namespace nacre
