// SPDX-License-Identifier: Apache-2.0
// Items of work on an entry that is held.
#pragma once

#include <cstring>

#include <nacre/assert.hpp>
#include <nacre/message.hpp>

#include "mobile/entry/object_entry.hpp"

namespace nacre {

/// A part that works on an entry later. The maker of such an item holds the gate or the activation of the entry, so its
/// object stays here until the item has run; and an entry with an object is never forgotten.
template <class Part>
struct held_work {
  Part* part;
  object_entry* entry;

  [[nodiscard]] static work& make(Part& part, object_entry& entry, work::runner function) {
    message_ptr m = make_message(sizeof(held_work));
    const held_work content{&part, &entry};
    std::memcpy(m->body(), &content, sizeof content);
    m->run_by(function);
    return *m.release();
  }
  /// Ends the item, and returns what it was for.
  [[nodiscard]] static held_work take(work& item) {
    const message_ptr m(static_cast<message*>(&item));
    held_work content;
    std::memcpy(&content, m->body(), sizeof content);
    NACRE_ASSERT(content.entry->object() != nullptr, "an object went away under its handler");
    return content;
  }
};

}  // namespace nacre
