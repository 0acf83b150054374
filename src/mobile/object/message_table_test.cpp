// SPDX-License-Identifier: Apache-2.0
// The promises of message_table, each as a sentence.
#include "mobile/object/message_table.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>

namespace nacre {
namespace {

/// Takes whatever it is given, and counts.
struct any_part {
  int admitted = 0, run = 0, lost = 0, other = 0;
  void admit(activation_step&, message_ptr) { ++admitted; }
  step_end run_front(activation_step&) {
    ++run;
    return step_end::yielded;
  }
  bool lose(thread_context&, const message&) { return ++lost != 0; }
  void meet(activation_step&, message_ptr) { ++other; }
  void be_late(activation_step&, rank_id, std::span<const rank_id>) { ++other; }
  void leave(activation_step&, rank_id, wish_kind) { ++other; }
  void make_room(activation_step&, bool) { ++other; }
  bool begin(object_entry&) { return ++other != 0; }
  void come(activation_step&) { ++other; }
};

using admit_function = message_table::admit_function;
using run_function = message_table::run_function;
using needs = message_table::needs;
constexpr auto everywhere = {receiver::object, receiver::element, receiver::empty_place};

void fill(message_table& table, any_part& part) {
  const auto run = run_function::of<&any_part::run_front>(part);
  for (const message_kind kind : {message_kind::migrate, message_kind::destroy, message_kind::lock, message_kind::join,
                                  message_kind::claim, message_kind::insert}) {
    table.set_run(everywhere, kind, run, true);
  }
  table.set_run({receiver::empty_place}, message_kind::object, run, false);
  table.set_run({receiver::empty_place}, message_kind::everyone, run, false);
  for (const message_kind kind : {message_kind::request_to_send, message_kind::arrival, news_of_end, may_collect}) {
    table.set_admitted({receiver::object, receiver::element}, kind, needs::entry,
                       admit_function::of<&any_part::admit>(part));
  }
  for (const message_kind kind :
       {message_kind::join, message_kind::claim, message_kind::request_to_send, message_kind::everyone}) {
    table.set_lost(kind, message_table::lost_function::of<&any_part::lose>(part));
  }
  table.not_here = part_function<void(activation_step&, message_ptr)>::of<&any_part::meet>(part);
  table.late = part_function<void(activation_step&, rank_id, std::span<const rank_id>)>::of<&any_part::be_late>(part);
  table.leave = part_function<void(activation_step&, rank_id, wish_kind)>::of<&any_part::leave>(part);
  table.make_room = part_function<void(activation_step&, bool)>::of<&any_part::make_room>(part);
  table.begin_place = part_function<bool(object_entry&)>::of<&any_part::begin>(part);
  table.arrived_held = part_function<void(activation_step&)>::of<&any_part::come>(part);
}

TEST(message_table, names_what_no_part_deals_with) {
  any_part part;
  message_table table;
  EXPECT_FALSE(table.missing().empty());
  fill(table, part);
  EXPECT_EQ(table.missing(), "");
  table.set_run({receiver::element}, message_kind::lock, run_function(), true);
  EXPECT_EQ(table.missing(), "kind " + std::to_string(static_cast<int>(message_kind::lock)) +
                                 " at the front of receiver " + std::to_string(static_cast<int>(receiver::element)));
  fill(table, part);
  table.set_admitted({receiver::object}, may_collect, needs::nothing, admit_function());
  EXPECT_NE(table.missing().find("that comes to receiver 0"), std::string::npos) << table.missing();
  fill(table, part);
  table.set_lost(message_kind::claim, {});
  EXPECT_NE(table.missing().find("that nobody can have"), std::string::npos) << table.missing();
  fill(table, part);
  table.begin_place = {};
  EXPECT_EQ(table.missing(), "begin_place");
}

TEST(message_table, calls_the_part_of_a_receiver_and_no_other) {
  any_part objects, elements;
  message_table table;
  fill(table, objects);
  table.set_run({receiver::element}, message_kind::destroy, run_function::of<&any_part::run_front>(elements), false);
  object_entry entry(object_id(rank_id(0), 1), {rank_id(0), 1}, nullptr);
  // No function here looks at the thread.
  alignas(thread_context) std::byte no_thread[sizeof(thread_context)];
  activation_step step{entry, *reinterpret_cast<thread_context*>(no_thread), {}};
  EXPECT_EQ(table.row_of(receiver::object, message_kind::destroy).run(step), step_end::yielded);
  EXPECT_EQ(table.row_of(receiver::element, message_kind::destroy).run(step), step_end::yielded);
  EXPECT_EQ(objects.run, 1);
  EXPECT_EQ(elements.run, 1);
  EXPECT_TRUE(table.row_of(receiver::object, message_kind::destroy).alone);
  EXPECT_FALSE(table.row_of(receiver::element, message_kind::destroy).alone);
}

TEST(message_table, leaves_calls_of_members_and_lost_messages_to_others_unless_told_so) {
  any_part part;
  message_table table;
  EXPECT_FALSE(table.row_of(receiver::object, message_kind::object).run);
  EXPECT_FALSE(table.row_of(receiver::element, message_kind::everyone).run);
  EXPECT_FALSE(table.lost(message_kind::join));
  table.set_lost(message_kind::join, message_table::lost_function::of<&any_part::lose>(part));
  EXPECT_TRUE(table.lost(message_kind::join));
  EXPECT_FALSE(table.lost(message_kind::claim));
}

}  // namespace
}  // namespace nacre
