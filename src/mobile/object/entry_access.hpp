// SPDX-License-Identifier: Apache-2.0
// How handlers take access to their object, alone or beside others, keep it, and give it back.
#pragma once

#include <nacre/runtime.hpp>

#include "am/address_warnings.hpp"
#include "am/am_engine.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/entry/object_functions.hpp"

namespace nacre {

/// A handler that runs alone keeps the activation; handlers that share hold the entry's gate (access_gate.hpp). The
/// holder of either keeps the entry.
class entry_access {
 public:
  using kind = detail::object_access;

  /// `check_serialization`: pack and unpack every object when an exclusive access to it has ended.
  entry_access(am_engine& messages, const object_names& names, bool check_serialization)
      : messages_(messages),
        names_(names),
        check_(check_serialization),
        address_warnings_(messages.rank(), messages.by_pointer(), check_serialization, messages.handlers().types()) {}

  /// Whether no handler runs on the object, so that an exclusive one may begin. False: the activation goes to the
  /// thread that ends the last shared handler.
  [[nodiscard]] static bool try_exclusive(activation_step& step);
  /// Gives the activation up, and makes the entry ready.
  void reschedule(object_entry& entry, thread_context& thread,
                  worker_pool::origin origin = worker_pool::origin::elsewhere);
  /// Ends an access after the simulated time that the handler has spent; on real threads at once.
  void end(object_entry& entry, thread_context& thread, kind access);
  /// Ends an access after the simulated time that has been spent.
  void end_when_spent(object_entry& entry, thread_context& thread, kind access);

  /// If enabled: replaces the object by a copy unpacked from its packed form, so that members that its class forgets
  /// are lost here as they would be elsewhere. No other thread has access to the object.
  void check_serialization(object_entry& entry);
  void check_object(const detail::object_type& type, object_id id, void*& object);
  /// An object of a class that holds_addresses has come from that rank.
  void note_addresses(rank_id source, const detail::object_type& type) {
    address_warnings_.note(source, type.id.value(), "an object of the class", type.name);
  }

 private:
  void leave_shared(object_entry& entry, thread_context& thread);
  static void end_shared_work(work& item, thread_context& thread);
  static void end_exclusive_work(work& item, thread_context& thread);

  am_engine& messages_;
  const object_names& names_;
  bool check_;
  address_warnings address_warnings_;  // by class
};

}  // namespace nacre
