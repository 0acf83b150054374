// SPDX-License-Identifier: Apache-2.0
// How a handler takes access to its object, alone or beside others, keeps it, and gives it back.
#pragma once

#include "am/address_warnings.hpp"
#include "am/am_engine.hpp"
#include "mobile/object/activation_step.hpp"

namespace nacre {

class object_space;

/// A handler that runs alone keeps the activation; handlers that share hold the entry's gate (access_gate.hpp).
class handler_access {
 public:
  /// `check_serialization`: pack and unpack every object when an exclusive access to it has ended.
  handler_access(object_space& space, am_engine& messages, bool check_serialization)
      : space_(space),
        messages_(messages),
        check_(check_serialization),
        address_warnings_(messages.rank(), messages.by_pointer(), check_serialization, messages.handlers().types()) {}

  step_end run_shared(activation_step& now, const detail::handler_info& row);
  step_end run_exclusive(activation_step& now, const detail::handler_info& row);
  void end_access(object_entry& entry, thread_context& thread, work::runner end, bool shared);
  void later(object_entry& entry, thread_context& thread, work::runner function);
  [[nodiscard]] static work& work_for(const object_entry& entry, work::runner function);
  [[nodiscard]] object_entry& held_entry(work& item);
  void check_serialization(object_entry& entry);
  void check_object(const detail::object_type& type, object_id id, void*& object);
  /// An object of a class that holds_addresses has come from that rank.
  void note_addresses(rank_id source, const detail::object_type& type) {
    address_warnings_.note(source, type.id.value(), "an object of the class", type.name);
  }

  static void end_shared_work(work& item, thread_context& thread);
  static void end_exclusive_work(work& item, thread_context& thread);

 private:
  [[nodiscard]] static handler_access& of(thread_context& thread) noexcept;

  object_space& space_;
  am_engine& messages_;
  bool check_;
  address_warnings address_warnings_;  // by class
};

}  // namespace nacre
