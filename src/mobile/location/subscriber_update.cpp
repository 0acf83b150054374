// SPDX-License-Identifier: Apache-2.0
// Subscriber update: ranks that have sent to an old place are told of the migrations that follow.
#include "mobile/location/rule.hpp"

namespace nacre {
namespace {

/// The list of subscribers is bounded and travels with the object (subscribers.hpp).
class subscriber_update final : public location_rule {
 public:
  [[nodiscard]] needs keeps() const noexcept override { return {.subscribers = true}; }
  [[nodiscard]] std::vector<rank_id> on_arrival(const location_change& change) const override {
    return {change.subscribers.begin(), change.subscribers.end()};
  }
};

}  // namespace

std::unique_ptr<const location_rule> make_subscriber_update() { return std::make_unique<subscriber_update>(); }

}  // namespace nacre
