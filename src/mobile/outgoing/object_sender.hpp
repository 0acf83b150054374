// SPDX-License-Identifier: Apache-2.0
// Sending the messages of one rank to objects, wherever they are.
#pragma once

#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/backlog/source_backlog.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/location/next_hop.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/send_entries.hpp"
#include "mobile/outgoing/local_delivery.hpp"
#include "mobile/outgoing/object_bundles.hpp"

namespace nacre {

/// Numbers each message in the stream of this rank to its object, and routes it by the object's entry. Messages to
/// elements of arrays elsewhere need no entry: see remote_elements. Any thread.
class object_sender {
 public:
  object_sender(am_engine& messages, const nacre::homes& homes, send_entries& numbers, const next_hop& hop,
                source_backlog& backlog, local_delivery& local, object_bundles& bundles, object_activation& activation,
                delivery_errors& errors) noexcept
      : messages_(messages),
        homes_(homes),
        numbers_(numbers),
        hop_(hop),
        backlog_(backlog),
        local_(local),
        bundles_(bundles),
        activation_(activation),
        errors_(errors) {}

  /// Posts a message of kind object, migrate or destroy to an object: stamps source and sequence, counts it. `result`,
  /// if not null, gets the reply. When it throws, nothing has happened.
  void post(thread_context& thread, object_id object, message_ptr m, detail::future_state* result = nullptr);
  void post_migrate(thread_context& thread, object_id object, rank_id target, detail::future_state& done);
  void post_destroy(thread_context& thread, object_id object);

 private:
  void address(thread_context& thread, object_id object, message& m, detail::future_state* result);
  void post_to_home(thread_context& thread, object_id object, const remote_elements::place& place, message_ptr m,
                    detail::future_state* result);

  am_engine& messages_;
  const nacre::homes& homes_;
  send_entries& numbers_;
  const next_hop& hop_;
  source_backlog& backlog_;
  local_delivery& local_;
  object_bundles& bundles_;
  object_activation& activation_;
  delivery_errors& errors_;
};

}  // namespace nacre
