// SPDX-License-Identifier: Apache-2.0
// Blocked streams, each promise as a sentence.
#include "mobile/entry/participation.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nacre {
namespace {

message_ptr numbered(std::uint32_t source, std::uint32_t sequence, message_kind kind = message_kind::object) {
  message_ptr m = make_message(0);
  m->header.kind = kind;
  m->header.source = source;
  m->header.sequence = sequence;
  m->header.reply = sequence;
  return m;
}

/// An object that runs the messages at its front, and writes them down.
struct object {
  participation part;
  message_list pending;
  std::string ran;

  void come(std::uint32_t source, std::uint32_t sequence, message_kind kind = message_kind::object) {
    pending.push_back(numbered(source, sequence, kind));
  }
  void run() {
    while (!pending.empty()) {
      if (part.defer_front(pending)) continue;
      message_ptr m = pending.pop_front();
      if (m->header.kind == message_kind::join) {
        part.hold(std::move(m));
      } else {
        ran += static_cast<char>('a' + m->header.source) + std::to_string(m->header.sequence) + " ";
      }
    }
  }
};

TEST(participation, only_the_stream_of_the_join_stands_still) {
  object o;
  o.come(0, 0);
  o.come(0, 1, message_kind::join);
  o.come(0, 2);
  o.come(1, 0);
  o.run();
  EXPECT_EQ(o.ran, "a0 b0 ");
  EXPECT_TRUE(o.part.holds({0, 1}));
  EXPECT_FALSE(o.part.holds({1, 1}) || o.part.holds({0, 2}));
  o.come(0, 7, message_kind::claim);
  EXPECT_FALSE(o.part.defer_front(o.pending)) << "a claim stands in no stream";
}

TEST(participation, what_waited_behind_runs_in_order_and_before_what_comes_later) {
  object o;
  o.come(0, 1, message_kind::join);
  o.come(0, 2);
  o.come(0, 3);
  o.run();
  o.come(0, 4);
  o.come(1, 0);
  EXPECT_EQ(o.part.resume({0, 1}, o.pending)->header.sequence, 1U);
  o.run();
  EXPECT_EQ(o.ran, "a2 a3 a4 b0 ");
  EXPECT_TRUE(o.part.idle());
}

TEST(participation, the_next_join_behind_a_join_stops_the_stream_again_at_its_place) {
  object o;
  for (const std::uint32_t round : {1U, 4U, 7U}) {
    o.come(0, round, message_kind::join);
    o.come(0, round + 1);
    o.come(0, round + 2);
  }
  o.run();
  EXPECT_EQ(o.ran, "");
  static_cast<void>(o.part.resume({0, 1}, o.pending));
  o.come(0, 10);
  EXPECT_FALSE(o.part.holds({0, 4})) << "what is before it has not run";
  EXPECT_FALSE(o.part.defer_front(o.pending));
  EXPECT_FALSE(o.part.defer_front(o.pending)) << "looking twice changes nothing";
  o.run();
  EXPECT_EQ(o.ran, "a2 a3 ");
  EXPECT_TRUE(o.part.holds({0, 4}));
  static_cast<void>(o.part.resume({0, 4}, o.pending));
  o.run();
  static_cast<void>(o.part.resume({0, 7}, o.pending));
  o.run();
  EXPECT_EQ(o.ran, "a2 a3 a5 a6 a8 a9 a10 ");
  EXPECT_TRUE(o.part.idle());
}

TEST(participation, streams_that_were_given_up_can_be_taken_back_each_once) {
  object o;
  o.come(0, 1, message_kind::join);
  o.come(0, 2);
  o.come(1, 1, message_kind::join);
  o.run();
  std::vector<participation::held_stream> streams;
  o.part.for_each_stream([&](participation::held_stream& each) { streams.push_back(std::move(each)); });
  ASSERT_EQ(streams.size(), o.part.stream_count());
  ASSERT_EQ(streams.size(), 2U);
  o.part = {};
  for (auto& each : streams) EXPECT_TRUE(o.part.put_back(std::move(each)));
  EXPECT_TRUE(o.part.holds({0, 1}) && o.part.holds({1, 1}));
  participation::held_stream again;
  again.source = 1;
  EXPECT_FALSE(o.part.put_back(std::move(again)));
  participation::held_stream forged;
  forged.source = 2;
  forged.join = numbered(3, 0, message_kind::join);
  EXPECT_FALSE(o.part.put_back(std::move(forged))) << "of another source";
}

TEST(participation, of_an_object_that_ends_every_stream_goes_on_in_its_order) {
  object o;
  o.come(0, 1, message_kind::join);
  o.come(0, 2);
  o.come(0, 3, message_kind::join);
  o.come(0, 4);
  o.come(1, 1, message_kind::join);
  o.come(1, 2);
  o.run();
  static_cast<void>(o.part.resume({0, 1}, o.pending));  // passes: its next join is pending, the messages after it are
                                                        // behind
  o.come(0, 5);
  o.come(1, 3);
  const std::vector<message_ptr> joins = o.part.dissolve(o.pending);
  ASSERT_EQ(joins.size(), 1U) << "of those that stand still";
  EXPECT_EQ(joins.front()->header.source, 1U);
  std::string left;
  while (const message_ptr m = o.pending.pop_front()) {
    left += static_cast<char>('a' + m->header.source) + std::to_string(m->header.sequence) + " ";
  }
  EXPECT_EQ(left, "b2 a2 a3 a4 a5 b3 ");
  EXPECT_TRUE(o.part.idle());
}

}  // namespace
}  // namespace nacre
