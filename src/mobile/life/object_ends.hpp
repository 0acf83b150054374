// SPDX-License-Identifier: Apache-2.0
// The end of objects: here, and the news of it from other ranks.
#pragma once

#include "am/am_engine.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/location/location_updates.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/message_table.hpp"

namespace nacre {

/// An object ends in its activation; its home and the ranks that have sent to it hear of it, and forget its entry.
class object_ends {
 public:
  object_ends(am_engine& messages, const nacre::homes& homes, directory& entries, message_table& table,
              balancer_view& view, location_updates& updates, delivery_errors& errors);

  /// Takes the entry of an ended object out of the directory; reports the messages that wait for the object.
  void end_entry(activation_step& step, object_state& state);
  /// Handles news that the object has been destroyed, which is a lie for an object that lives here.
  void handle_news(activation_step& step, message_ptr news);

 private:
  step_end end_object(activation_step& step);

  am_engine& messages_;
  const nacre::homes& homes_;
  directory& entries_;
  balancer_view& view_;
  location_updates& updates_;
  delivery_errors& errors_;
};

}  // namespace nacre
