// SPDX-License-Identifier: Apache-2.0
// Objects come to this rank.
#pragma once

#include <cstdint>
#include <optional>

#include "am/am_engine.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/entry/object_functions.hpp"
#include "mobile/life/object_codec.hpp"
#include "mobile/location/location_updates.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/entry_access.hpp"
#include "mobile/object/message_table.hpp"

namespace nacre {

/// The second half of docs/protocols/migration.md. The activation of the object's entry.
class arrivals {
 public:
  arrivals(am_engine& messages, const nacre::homes& homes, const object_names& names, message_table& table,
           balancer_view& view, entry_access& access, location_updates& updates);

  struct arrived {
    migration_request asked;
    std::uint32_t epoch = 0;
    bool is_empty_place = false;    ///< its element has ended elsewhere
    std::uint32_t contributed = 0;  ///< of an empty place; see object_state
  };
  /// Installs an object that has arrived. Nothing when the job has failed.
  [[nodiscard]] std::optional<arrived> install(activation_step& step, message_ptr arrival);
  /// Ends the message of the arrival, and answers the call that asked for the object.
  void finish(activation_step& step, const arrived& object);

 private:
  void install_object(activation_step& step, message_ptr arrival);
  [[nodiscard]] std::optional<object_state> unpack(activation_step& step, message_ptr& arrival,
                                                   migration_request& asked);

  am_engine& messages_;
  const nacre::homes& homes_;
  const object_names& names_;
  balancer_view& view_;
  entry_access& access_;
  location_updates& updates_;
};

}  // namespace nacre
