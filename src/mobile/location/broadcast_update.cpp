// SPDX-License-Identifier: Apache-2.0
// Broadcast update: every rank is told of every migration.
#include "mobile/location/rule.hpp"

namespace nacre {
namespace {

/// For few objects that move seldom and that every rank sends to.
class broadcast_update final : public location_rule {
 public:
  [[nodiscard]] needs keeps() const noexcept override { return {.everywhere = true}; }
  [[nodiscard]] std::vector<rank_id> on_arrival(const location_change& change) const override {
    std::vector<rank_id> all;
    all.reserve(change.ranks);
    for (std::uint32_t rank = 0; rank < change.ranks; ++rank) all.emplace_back(rank);
    return all;
  }
};

}  // namespace

std::unique_ptr<const location_rule> make_broadcast_update() { return std::make_unique<broadcast_update>(); }

}  // namespace nacre
