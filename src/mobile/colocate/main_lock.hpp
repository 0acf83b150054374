// SPDX-License-Identifier: Apache-2.0
// Access of a main to an object: requested by a message in the object's stream, granted on main's rank, given back.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/life/departures.hpp"
#include "mobile/object/entry_access.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/outgoing/object_sender.hpp"

namespace nacre {

/// Locks of this rank's main. A shared lock holds the entry's gate, an exclusive one its activation.
class main_lock {
 public:
  main_lock(am_engine& messages, directory& entries, message_table& table, entry_access& access, departures& departing,
            object_sender& sender);

  /// Requests access for this rank's main, which waits for nothing else. `granted` becomes ready when main has access,
  /// or fails. Main ends the access by `unlock`.
  void request(thread_context& thread, object_id object, detail::object_access object_access,
               detail::future_state& granted);
  /// The object that main has access to.
  struct held_object {
    void* object;
    const detail::object_type& type;
  };
  [[nodiscard]] held_object locked(thread_context& thread, object_id object);
  void unlock(thread_context& thread, object_id object, detail::object_access object_access);

 private:
  step_end run_request(activation_step& step);

  am_engine& messages_;
  directory& entries_;
  entry_access& access_;
  departures& departures_;
  object_sender& sender_;
  std::atomic<std::uint64_t> lock_asked_{0};  // number of main's latest request
};

}  // namespace nacre
