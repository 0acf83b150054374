// SPDX-License-Identifier: Apache-2.0
// A message for all elements, at one of their places.
#pragma once

#include "am/am_engine.hpp"
#include "mobile/backlog/source_backlog.hpp"
#include "mobile/entry/object_entry.hpp"
#include "mobile/object/entry_access.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/step_clock.hpp"

namespace nacre {

/// At the home of the place. Readers of the directory.
class place_messages {
 public:
  place_messages(am_engine& messages, step_clock& clock, entry_access& access, object_activation& activation,
                 source_backlog& backlog) noexcept
      : messages_(messages), clock_(clock), access_(access), activation_(activation), backlog_(backlog) {}

  /// Posts a message for all elements to one place.
  void post(thread_context& thread, object_entry& entry, message_ptr m);
  /// Runs a message for all elements on an idle place, on this thread, at once. False: the element is elsewhere, or the
  /// place is busy, and nothing has happened. `plain`: the handler, if broadcasts calls it plain; then the message
  /// stays with the caller, unless the handler keeps it.
  [[nodiscard]] bool run_if_idle(thread_context& thread, object_entry& entry, message_ptr& m,
                                 const detail::handler_info* plain);

 private:
  void address(thread_context& thread, object_entry& entry, message& m);
  [[nodiscard]] bool run_plainly(thread_context& thread, object_entry& entry, message_ptr& m,
                                 const detail::handler_info& handler);

  am_engine& messages_;
  step_clock& clock_;
  entry_access& access_;
  object_activation& activation_;
  source_backlog& backlog_;
};

}  // namespace nacre
