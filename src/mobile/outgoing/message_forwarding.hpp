// SPDX-License-Identifier: Apache-2.0
// Forwarding messages to the place of an object.
#pragma once

#include "am/am_engine.hpp"
#include "mobile/backlog/source_backlog.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/directory/location_rules.hpp"
#include "mobile/location/location_updates.hpp"
#include "mobile/location/next_hop.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/outgoing/home_waiting_messages.hpp"

namespace nacre {

/// The entry of an object that is elsewhere forwards messages to it. Readers of the directory.
class message_forwarding {
 public:
  message_forwarding(am_engine& messages, const nacre::homes& homes, const location_rules& rules, const next_hop& hop,
                     message_table& table, location_updates& updates, source_backlog& backlog, delivery_errors& errors);

  void forward(object_entry& entry, thread_context& thread, message_ptr m);
  void route_to_home(object_id id, thread_context& thread, message_ptr m);
  /// Whether messages wait here for a location update of their objects, which is certain to come. Any thread.
  [[nodiscard]] bool awaits_news() { return !news_.empty(); }

 private:
  void meet_absence(activation_step& step, message_ptr m);
  void deliver_awaiting(object_id id, thread_context& thread);

  am_engine& messages_;
  const nacre::homes& homes_;
  const location_rules& rules_;
  const next_hop& hop_;
  location_updates& updates_;
  source_backlog& backlog_;
  delivery_errors& errors_;
  home_waiting_messages news_;
};

}  // namespace nacre
