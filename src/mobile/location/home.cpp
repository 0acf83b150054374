// SPDX-License-Identifier: Apache-2.0
// Home: the home of an object knows where it is; other ranks ask it.
#include "mobile/location/rule.hpp"

namespace nacre {
namespace {

/// Old places send messages to the home, which forwards them, so a message takes at most three steps, or two when its
/// sender relies on the home alone; the sender is told. Under every rule the home is told of every arrival.
class home final : public location_rule {
 public:
  [[nodiscard]] needs keeps() const noexcept override { return {.by_home = true}; }
  [[nodiscard]] std::vector<rank_id> on_late_delivery(const late_delivery& late) const override {
    return {late.source};
  }
};

}  // namespace

std::unique_ptr<const location_rule> make_home() { return std::make_unique<home>(); }

}  // namespace nacre
