// SPDX-License-Identifier: Apache-2.0
// Objects leave this rank, and arrive.
#pragma once

#include <cstddef>
#include <string>

#include "am/am_engine.hpp"
#include "mobile/migration/migration_costs.hpp"
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
  /// handler has ended. False: it stays. For balancers, inside the poll loop.
  bool move_out(thread_context& thread, object_id object, rank_id target, wish_kind wish);
  /// Handles a request to migrate, at the front of the object's messages.
  void migrate_front(activation_step& now);
  /// Departs unless the object refuses or cannot move; returns the reason, which is empty when it departs.
  [[nodiscard]] std::string leave_for(activation_step& now, rank_id target, const migration_request& asked,
                                      wish_kind wish = wish_kind::always);
  void depart(activation_step& now, rank_id target, const migration_request& asked);
  /// The reason why the object, which is here, must not move at this moment; null when it may.
  [[nodiscard]] const char* refusal(const object_entry& entry) const;
  [[nodiscard]] bool worth_leaving(const activation_step& now, std::size_t bytes) const;
  [[nodiscard]] bool too_long(const activation_step& now, std::size_t bytes) const;
  /// Measures the object packed. Returns the reason why it cannot be packed, or is too long with what waits for it;
  /// empty when it can move.
  [[nodiscard]] std::string measure(const activation_step& now, std::size_t& bytes) const;
  /// Takes a message that carries an object, and has it installed. Poll loop.
  void receive(thread_context& thread, message_ptr arrival);
  /// Installs an object that has arrived. The activation of its entry.
  void install(activation_step& now, message_ptr arrival);
  void give_up_extra(object_entry& entry, thread_context& thread);

  [[nodiscard]] const migration_costs& costs() const noexcept { return costs_; }

 private:
  object_space& space_;
  am_engine& messages_;
  migration_costs costs_;
};

}  // namespace nacre
