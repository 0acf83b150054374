// SPDX-License-Identifier: Apache-2.0
// The rows of the table of messages to objects.
#include "mobile/object/message_table.hpp"

namespace nacre {

void message_table::set_admitted(std::initializer_list<receiver> all, message_kind kind, needs at_least,
                                 admit_function function) noexcept {
  for (const receiver each : all) {
    row& row = rows_[static_cast<std::size_t>(each)][static_cast<std::size_t>(kind)];
    row.admit = function;
    row.at_least = at_least;
  }
}

void message_table::set_run(std::initializer_list<receiver> all, message_kind kind, run_function function,
                            bool alone) noexcept {
  for (const receiver each : all) {
    row& row = rows_[static_cast<std::size_t>(each)][static_cast<std::size_t>(kind)];
    row.run = function;
    row.alone = alone;
  }
}

std::string message_table::missing() const {
  for (std::size_t to = 0; to < receivers; ++to) {
    for (std::size_t number = 0; number < kinds; ++number) {
      const auto kind = static_cast<message_kind>(number);
      const bool runs_members = kind == message_kind::object || kind == message_kind::everyone;
      const bool is_run = in_stream(kind) || kind == message_kind::claim;
      if (!is_run || (runs_members && static_cast<receiver>(to) != receiver::empty_place)) continue;
      if (!rows_[to][number].run)
        return "kind " + std::to_string(number) + " at the front of receiver " + std::to_string(to);
    }
  }
  for (const receiver to : {receiver::object, receiver::element}) {
    for (const message_kind kind : {message_kind::request_to_send, message_kind::arrival, news_of_end, may_collect}) {
      if (!row_of(to, kind).admit)
        return "kind " + std::to_string(static_cast<int>(kind)) + " that comes to receiver " +
               std::to_string(static_cast<int>(to));
    }
  }
  for (const message_kind kind :
       {message_kind::join, message_kind::claim, message_kind::request_to_send, message_kind::everyone}) {
    if (!lost(kind)) return "kind " + std::to_string(static_cast<int>(kind)) + " that nobody can have";
  }
  if (!not_here) return "not_here";
  if (!late) return "late";
  if (!leave) return "leave";
  if (!make_room) return "make_room";
  if (!begin_place) return "begin_place";
  return arrived_held ? "" : "arrived_held";
}

}  // namespace nacre
