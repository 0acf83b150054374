// SPDX-License-Identifier: Apache-2.0
// Objects as bytes: the message that holds one, with its stream numbers and the messages that wait for it.
#pragma once

#include <cstdint>
#include <optional>

#include <nacre/message.hpp>

#include "mobile/entry/object_entry.hpp"

namespace nacre {

/// The call to answer when a migration has ended; `reply` is 0 when there is none.
struct migration_request {
  std::uint32_t source = 0;
  std::uint64_t reply = 0;
};

class object_names;

/// Puts an object's state into a message of kind `arrival`: as it is where `by_pointer`, else packed. If the last
/// member serialized is a large buffer with free room before its bytes, its block becomes the message, without a copy.
/// The sequence number in the header belongs to no stream; it holds the number of messages that wait for the object or
/// for its arrival. `names` names elements in errors, as in take_arrival.
[[nodiscard]] message_ptr make_arrival(object_id id, object_state state, const migration_request& asked,
                                       bool by_pointer, const object_names* names = nullptr);

/// Packs a copy of an object's state into such a message, and leaves the object where it is. The state stays as it was,
/// but for the messages that wait: their arguments are packed from now on. The activation of the object's entry. So far
/// only tests call it; it keeps the codec able to copy.
[[nodiscard]] message_ptr copy_object(object_id id, object_state& state);

/// Takes the object's state out again; nullopt when the bytes are not valid, or name ranks outside a job of `ranks`. A
/// buffer that became the message takes the message over; then `m` is null.
[[nodiscard]] std::optional<object_state> take_arrival(message_ptr& m, migration_request& asked, std::uint32_t ranks,
                                                       const object_names* names = nullptr);

}  // namespace nacre
