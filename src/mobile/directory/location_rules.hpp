// SPDX-License-Identifier: Apache-2.0
// Location management: which ranks to tell when an object has moved, and when a message came by way of an old place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nacre/ids.hpp>
#include <nacre/location.hpp>

namespace nacre {

/// An object that has just arrived.
struct location_change {
  std::uint32_t ranks = 1;                 ///< in the job
  std::span<const rank_id> subscribers{};  ///< travel with the object, under rules that keep them
};

/// A message that reached its object after having been forwarded.
struct late_delivery {
  rank_id source{};                 ///< the sender
  std::span<const rank_id> path{};  ///< the forwarding ranks, under rules that keep them
};

/// A location policy: answers two questions, without I/O and without state. Any answer is correct; answers differ only
/// in hops and updates. Besides these answers, the caller tells the home of every arrival, unless the home has sent the
/// object. It tells no rank twice of one epoch on account of late deliveries, and never tells the rank that the object
/// is on.
class location_rule {
 public:
  /// The rule needs these records of messages, objects and ranks.
  struct needs {
    bool path = false;         ///< messages carry the ranks that forward them
    bool subscribers = false;  ///< senders of late deliveries are noted in a list that travels with the object
    bool by_home = false;      ///< a rank that an object has left sends the object's messages to the home
    bool everywhere = false;   ///< ranks keep locations of objects new to them
  };

  virtual ~location_rule() = default;
  [[nodiscard]] virtual needs keeps() const noexcept { return {}; }
  /// The ranks to tell of an object's new place, once it has arrived there.
  [[nodiscard]] virtual std::vector<rank_id> on_arrival(const location_change&) const { return {}; }
  /// The ranks to tell of the object's place after a late delivery.
  [[nodiscard]] virtual std::vector<rank_id> on_late_delivery(const late_delivery&) const { return {}; }
};

/// The rules of a rank by policy (location_rules.cpp). Any thread.
class location_rules {
 public:
  explicit location_rules(location_policy of_program);

  /// Replaces of_program by the policy of the program.
  [[nodiscard]] location_policy meant(location_policy policy) const noexcept {
    return policy == location_policy::of_program ? of_program_ : policy;
  }
  [[nodiscard]] const location_rule& operator[](location_policy policy) const noexcept {
    return *rules_[static_cast<std::size_t>(meant(policy)) - 1];
  }
  /// Whether a number from a peer names a policy other than of_program.
  [[nodiscard]] static constexpr bool known(std::uint8_t policy) noexcept {
    return policy != 0 && policy <= location_policy_names.size();
  }

 private:
  location_policy of_program_;
  std::array<std::unique_ptr<const location_rule>, location_policy_names.size()> rules_;
};

}  // namespace nacre
