// SPDX-License-Identifier: Apache-2.0
// The objects of a rank that cannot go on by themselves, and the messages that wait for them: for the report of a
// deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/ids.hpp>

#include "base/report_lines.hpp"

namespace nacre {

class object_space;

/// Adds a line for each object here that cannot go on by itself: where it is, which access holds it, how many messages
/// wait. Its number is that of the message that its coroutine handler awaits. While nothing runs. Takes time for all
/// objects that this rank knows.
void name_waiting(object_space& space, report_lines& report);
/// Adds a line for each coroutine handler here that waits for a message of its object, with the number of that message.
/// While nothing runs. Takes time for all objects that this rank knows.
void name_awaiting_messages(object_space& space, report_lines& report);
/// Adds a line for each object here that a suspended handler, a colocation or a main has. While nothing runs. Takes
/// time for all objects that this rank knows.
void name_held_by_handlers(object_space& space, report_lines& report);
/// Adds a line for each object to which messages of this rank wait here, at their source, until the object clears
/// them.
void name_kept_at_source(object_space& space, std::size_t count_max, std::vector<std::string>& words);

struct waiting_messages {
  std::size_t messages = 0;  ///< that wait here for the object
  bool has_call = false;     ///< the call in question is among the first of them
};
/// The messages that wait for an object with a handler suspended here, and whether the call of that number is among
/// them. While nothing runs. Readers of the directory.
[[nodiscard]] waiting_messages waiting_at(object_space& space, object_id object, std::uint64_t call);

}  // namespace nacre
