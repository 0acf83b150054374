// SPDX-License-Identifier: Apache-2.0
// Cells of an adapter against times worked out by hand.
#include "machine/cell_adapter.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace nacre::machine {
namespace {

using std::chrono::nanoseconds;

constexpr double byte_a_nanosecond = 1e9;  // so that a cell takes 53 ns
constexpr auto never = nanoseconds::max();

/// Takes all cells that are on the line by `end`: "number.place@time" of each, a control message's with a "c".
[[nodiscard]] std::string cells_until(cell_adapter& adapter, std::int64_t end) {
  std::string word;
  while (adapter.due() <= nanoseconds(end)) {
    const std::int64_t time = adapter.due().count();
    const auto sent = adapter.take();
    word += (word.empty() ? "" : " ") + std::string(sent.urgency == cell_urgency::control ? "c" : "") +
            std::to_string(sent.cell.packet) + "." + std::to_string(sent.cell.place) + "@" + std::to_string(time);
  }
  return word;
}

TEST(cell_adapter, cells_of_a_message_and_of_the_next_leave_one_behind_another) {
  cell_adapter adapter(byte_a_nanosecond);
  EXPECT_EQ(adapter.due(), never);
  adapter.send({.number = 1, .cells = 3}, nanoseconds(100));
  adapter.send({.number = 2, .cells = 1}, nanoseconds(110));
  EXPECT_EQ(cells_until(adapter, 1000), "1.0@153 1.1@206 1.2@259 2.0@312");
  EXPECT_EQ(adapter.due(), never);
  adapter.send({.number = 3, .cells = 1}, nanoseconds(1000));
  EXPECT_EQ(cells_until(adapter, 2000), "3.0@1053");
}

TEST(cell_adapter, cells_of_a_control_message_go_between_those_of_a_message) {
  cell_adapter adapter(byte_a_nanosecond);
  adapter.send({.number = 1, .cells = 3}, nanoseconds(0));
  adapter.send({.number = 9, .cells = 2, .urgency = cell_urgency::control}, nanoseconds(10));
  EXPECT_EQ(cells_until(adapter, 1000), "1.0@53 c9.0@106 c9.1@159 1.1@212 1.2@265");
}

TEST(cell_adapter, rounding_does_not_add_up) {
  cell_adapter adapter(149.76e6 / 8);  // 2831.197 ns a cell
  adapter.send({.number = 1, .cells = 100'000}, nanoseconds(0));
  nanoseconds last{0};
  while (adapter.due() != never) {
    last = adapter.due();
    static_cast<void>(adapter.take());
  }
  EXPECT_EQ(last.count(), 283'119'700);
}

TEST(cell_adapter, the_processor_prepares_a_message_while_no_cell_of_another_is_on_the_line) {
  cell_adapter adapter(byte_a_nanosecond);
  EXPECT_EQ(adapter.prepared_at(), never);
  adapter.prepare(nanoseconds(100), nanoseconds(0));
  EXPECT_EQ(adapter.prepared_at(), nanoseconds(100));
  adapter.send({.number = 8, .cells = 1, .urgency = cell_urgency::control}, nanoseconds(10));
  adapter.send({.number = 1, .cells = 2}, nanoseconds(40));
  EXPECT_EQ(adapter.prepared_at(), nanoseconds(100)) << "a control message is no work of the processor";
  EXPECT_EQ(cells_until(adapter, 63), "c8.0@63");  // 37 ns of work are left
  EXPECT_EQ(adapter.prepared_at(), never);
  EXPECT_EQ(cells_until(adapter, 1000), "1.0@116 1.1@169");
  EXPECT_EQ(adapter.prepared_at(), nanoseconds(206));
  EXPECT_TRUE(adapter.is_preparing());
  adapter.finish_preparation();
  EXPECT_FALSE(adapter.is_preparing());
  EXPECT_EQ(adapter.prepared_at(), never);
}

TEST(cell_adapter, the_processor_goes_on_while_a_control_message_holds_up_a_message) {
  cell_adapter adapter(byte_a_nanosecond);
  adapter.send({.number = 1, .cells = 2}, nanoseconds(0));
  adapter.prepare(nanoseconds(60), nanoseconds(0));
  adapter.send({.number = 9, .cells = 1, .urgency = cell_urgency::control}, nanoseconds(10));
  EXPECT_EQ(cells_until(adapter, 53), "1.0@53");
  EXPECT_EQ(adapter.prepared_at(), nanoseconds(113)) << "if the control message lasted";
  EXPECT_EQ(cells_until(adapter, 1000), "c9.0@106 1.1@159");
  EXPECT_EQ(adapter.prepared_at(), nanoseconds(166));
}

TEST(cell_adapter, a_message_that_is_prepared_while_another_is_sent_takes_its_work_behind_it) {
  cell_adapter adapter(byte_a_nanosecond);
  adapter.send({.number = 1, .cells = 2}, nanoseconds(0));
  adapter.prepare(nanoseconds(30), nanoseconds(0));
  EXPECT_EQ(cells_until(adapter, 1000), "1.0@53 1.1@106");
  EXPECT_EQ(adapter.prepared_at(), nanoseconds(136));
}

}  // namespace
}  // namespace nacre::machine
