// SPDX-License-Identifier: Apache-2.0
// The parts that deal with messages to objects, by the kind of the message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <nacre/message.hpp>

#include "mobile/entry/activation_step.hpp"
#include "mobile/entry/part_function.hpp"

namespace nacre {

/// The target of a message: an object that is no element of an array; an element, or the place of one; a place that has
/// no element now.
enum class receiver : std::uint8_t { object, element, empty_place };
inline constexpr std::size_t receivers = 3;

/// The parts of the layer give their functions here when they are made; the activation, which is below them, calls
/// these. It runs calls of members itself.
///
/// | kind | an activation admits it | it has come to the front | nobody can have it |
/// |---|---|---|---|
/// | object | into its stream | a member; at an empty place `place_rows` | a failure, or a report |
/// | everyone | into its stream | as for object | `place_rows`; else as for object |
/// | destroy, everyone without handler | into its stream | `object_ends`; of an element `place_rows` | a report |
/// | migrate, lock | into its stream | `departures`, `main_lock` | a failure, or a report |
/// | join | into its stream | `colocations` | `colocations` |
/// | claim | behind the others | `colocations` | nothing: its join tells |
/// | insert | into its stream | `place_rows` | a failure |
/// | request_to_send | `source_backlog` | - | `source_backlog` |
/// | arrival | `arrivals`; of an element `place_rows` | - | - |
/// | news_of_end | `object_ends`; of an element `place_rows` | - | - |
/// | may_collect | `entry_review` | - | - |
class message_table {
 public:
  /// A condition: that must be here before a message of that kind is admitted.
  enum class needs : std::uint8_t { object, entry, nothing };
  using admit_function = part_function<void(activation_step&, message_ptr)>;
  using run_function = part_function<step_end(activation_step&)>;
  /// True: the part has dealt with the message, also with its count.
  using lost_function = part_function<bool(thread_context&, const message&)>;
  struct row {
    admit_function admit;  ///< empty: into its stream
    run_function run;      ///< empty: a member of the object, which the activation runs
    needs at_least = needs::object;
    bool alone = false;  ///< it runs when no handler is on the object
  };

  void set_admitted(std::initializer_list<receiver> all, message_kind kind, needs at_least,
                    admit_function function) noexcept;
  void set_run(std::initializer_list<receiver> all, message_kind kind, run_function function, bool alone) noexcept;
  void set_lost(message_kind kind, lost_function function) noexcept {
    lost_[static_cast<std::size_t>(kind)] = function;
  }

  [[nodiscard]] const row& row_of(receiver to, message_kind kind) const noexcept {
    return rows_[static_cast<std::size_t>(to)][static_cast<std::size_t>(kind) % kinds];
  }
  [[nodiscard]] const lost_function& lost(message_kind kind) const noexcept {
    return lost_[static_cast<std::size_t>(kind) % kinds];
  }

  // Other events that an activation meets.
  /// A message comes to an entry without an object: it is elsewhere, or has ended.
  part_function<void(activation_step&, message_ptr)> not_here;
  /// A message from that rank has come after its object, by way of these ranks.
  part_function<void(activation_step&, rank_id, std::span<const rank_id>)> late;
  /// A balancer wants the object on that rank; it may stay.
  part_function<void(activation_step&, rank_id, wish_kind)> leave;
  /// Messages wait at their sources, and there is room for some of them at the object; `all`: room does not count.
  part_function<void(activation_step&, bool all)> make_room;
  /// For an entry without an object: begins it, if it is a place that has not begun.
  part_function<bool(object_entry&)> begin_place;
  /// An object has come that belongs to a colocation.
  part_function<void(activation_step&)> arrived_held;

  /// The name of a function that is missing; empty when there is none.
  [[nodiscard]] std::string missing() const;

 private:
  static constexpr std::size_t kinds = 32;
  std::array<std::array<row, kinds>, receivers> rows_{};
  std::array<lost_function, kinds> lost_{};
};

}  // namespace nacre
