// SPDX-License-Identifier: Apache-2.0
// The next rank on the way of a message to an object elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>

#include <nacre/message.hpp>

#include "base/marks.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/entry/object_entry.hpp"

namespace nacre {

/// Any thread.
class next_hop {
 public:
  /// `hops_max`: after so many hops a message goes to the home of its object.
  next_hop(rank_id rank, const nacre::homes& homes, std::uint32_t hops_max) noexcept
      : rank_(rank), homes_(homes), hops_max_(hops_max) {}

  [[nodiscard]] std::uint32_t hops_max() const noexcept { return hops_max_; }
  /// The rank to which this rank, which does not have the object, sends a message: the rank in the entry, with two
  /// exceptions that go to the home. These are a location with `by_home`, and a message that has been forwarded more
  /// than hops_max times, because entries may lead in a circle after the end of an object.
  [[nodiscard]] rank_id of(const object_entry& entry, const known_location& location,
                           message_header& header) const noexcept {
    const bool often = header.hops > hops_max_;
    header.epoch = std::max(header.epoch, location.epoch);
    if (!often && !location.by_home) [[likely]]
      return location.rank;
    return by_home(entry, location, often);
  }

 private:
  [[nodiscard]] [[gnu::noinline]] rank_id by_home(const object_entry& entry, const known_location& location,
                                                  bool often) const noexcept {
    const rank_id home = homes_.home_of(entry.id);
    if (home == rank_) return location.rank;
    if (often) NACRE_MARK("a message has been forwarded too often and goes to the home of its object");
    return home;
  }

  const rank_id rank_;
  const nacre::homes& homes_;
  const std::uint32_t hops_max_;
};

}  // namespace nacre
