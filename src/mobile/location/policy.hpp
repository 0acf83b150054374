// SPDX-License-Identifier: Apache-2.0
// Location management: whom to tell when an object has moved, and when a message came by way of an old place.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <nacre/ids.hpp>

namespace nacre {

/// A message that reached the object after having been forwarded.
struct late_delivery {
  rank_id source;            ///< who sent it first
  std::uint32_t told_epoch;  ///< the newest epoch that `source` has been told of from here
  std::uint32_t epoch;       ///< the object's
};

/// Answers two questions, without I/O. Whatever it answers, every promise holds: only hops and updates differ. The home of
/// an object is always told besides. Clam section 3.1 lets programs choose among six; specs name them.
class location_policy {
 public:
  virtual ~location_policy() = default;
  /// Ranks to tell of an object's new place `at`, once it has arrived there.
  [[nodiscard]] virtual std::vector<rank_id> on_arrival(rank_id at) const = 0;
  /// Whether to tell the sender of a late delivery where the object is.
  [[nodiscard]] virtual bool tell_sender(const late_delivery& late) const = 0;
};

/// The policy of that name, or a setup_error that names the nearest.
[[nodiscard]] std::unique_ptr<location_policy> make_location_policy(std::string_view name);

}  // namespace nacre
