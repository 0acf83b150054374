// SPDX-License-Identifier: Apache-2.0
// Objects leave this rank, and arrive.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>

#include "am/am_engine.hpp"
#include "mobile/migration/object_codec.hpp"
#include "mobile/object/activation_step.hpp"

namespace nacre {

class object_space;

/// The protocol of docs/protocols/migration.md. Unless a function says otherwise, only the holder of the activation
/// calls it.
class object_migration {
 public:
  object_migration(object_space& space, am_engine& messages) noexcept : space_(space), messages_(messages) {}

  /// Moves an object away ahead of the messages that wait for it, at once if no handler runs on it, else as soon as the
  /// handler has ended. For balancers, inside the poll loop.
  void move_out(thread_context& on, object_id object, rank_id to);
  /// Handles a request to migrate, at the front of the object's messages.
  void migrate_front(activation_step& now);
  /// Departs unless the object refuses or cannot move; returns null, or the reason.
  [[nodiscard]] const char* leave_for(activation_step& now, rank_id to, const migration_request& asked);
  void depart(activation_step& now, rank_id to, const migration_request& asked);
  [[nodiscard]] bool stays(const object_entry& at) const;
  [[nodiscard]] bool too_long(const activation_step& now, std::size_t bytes) const;
  /// Takes a message that carries an object, and has it installed. Poll loop.
  void receive(thread_context& by, message_ptr arrival);
  /// Installs an object that has arrived. The activation of its entry.
  void install(activation_step& now, message_ptr arrival);
  void give_up_extra(object_entry& at, thread_context& on);

  /// The least time this rank needed to pack and send an object; 0 while it has done so only a few times. The least,
  /// because interruptions only lengthen it. Poll loop.
  [[nodiscard]] double migration_seconds() const noexcept;

 private:
  object_space& space_;
  am_engine& messages_;
  // The least so far; a lost concurrent write does no harm.
  std::atomic<double> migration_seconds_{std::numeric_limits<double>::infinity()};
};

}  // namespace nacre
