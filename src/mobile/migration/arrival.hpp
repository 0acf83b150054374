// SPDX-License-Identifier: Apache-2.0
// An object on its way: the message that carries it, with its stream numbers and the messages that wait for it.
#pragma once

#include <optional>

#include <nacre/message.hpp>

#include "mobile/object/entry.hpp"

namespace nacre {

/// Whom to tell that a migration has ended; `reply` is 0 when nobody asked.
struct migration_request {
  std::uint32_t source = 0;
  std::uint64_t reply = 0;
};

/// Puts a resident into a message of kind `arrival`: as it is where `by_pointer`, else packed. A large buffer that the
/// object's serialize function names last is not copied: it becomes the message, where its block has room in front of
/// its bytes for the rest. The sequence number in its header, which is of no stream, says how much waits for the object or
/// for its arrival.
[[nodiscard]] message_ptr make_arrival(object_id id, resident body, const migration_request& asked, bool by_pointer);

/// Takes the resident out again; nothing when the bytes are not one, or speak of ranks that a job of `ranks` has not. A
/// buffer as above takes the message over; then `m` is null.
[[nodiscard]] std::optional<resident> take_arrival(message_ptr& m, migration_request& asked, std::uint32_t ranks);

}  // namespace nacre
