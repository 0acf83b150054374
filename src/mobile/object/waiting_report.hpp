// SPDX-License-Identifier: Apache-2.0
// The objects of a rank that cannot go on by themselves, and the messages that wait for them: for the report of a
// deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <nacre/ids.hpp>

#include "am/am_engine.hpp"
#include "base/report_lines.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/entry/object_functions.hpp"

namespace nacre {

/// While nothing runs. Readers of the directory. The lines take time for all objects that this rank knows.
class waiting_report {
 public:
  waiting_report(am_engine& messages, const directory& entries, const object_names& names) noexcept
      : messages_(messages), entries_(entries), names_(names) {}

  /// Adds a line for each object here that cannot go on by itself: where it is, which access holds it, how many
  /// messages wait. Its number is that of the message that its coroutine handler awaits.
  void name_waiting(report_lines& report) const;
  /// Adds a line for each coroutine handler here that waits for a message of its object, with the number of that
  /// message.
  void name_awaiting_messages(report_lines& report) const;
  /// Adds a line for each object here that a suspended handler, a colocation or a main has.
  void name_held_by_handlers(report_lines& report) const;

  struct waiting_messages {
    std::size_t messages = 0;  ///< that wait here for the object
    bool has_call = false;     ///< the call in question is among the first of them
  };
  /// The messages that wait for an object with a handler suspended here, and whether the call of that number is among
  /// them.
  [[nodiscard]] waiting_messages waiting_at(object_id object, std::uint64_t call) const;

 private:
  [[nodiscard]] std::string awaited_by(const kept_messages& kept) const;

  am_engine& messages_;
  const directory& entries_;
  const object_names& names_;
};

}  // namespace nacre
