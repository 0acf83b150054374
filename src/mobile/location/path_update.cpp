// SPDX-License-Identifier: Apache-2.0
// Path update: the sender of a forwarded message and all ranks on its path are told where it ended.
#include "mobile/location/rule.hpp"

namespace nacre {
namespace {

/// Path compression (Fowler's forwarding chains): once a message has followed a chain, the chain is short from every
/// rank on it.
class path_update final : public location_rule {
 public:
  [[nodiscard]] needs keeps() const noexcept override { return {.path = true}; }
  [[nodiscard]] std::vector<rank_id> on_late_delivery(const late_delivery& late) const override {
    std::vector<rank_id> told(late.path.begin(), late.path.end());
    told.push_back(late.source);
    return told;
  }
};

}  // namespace

std::unique_ptr<const location_rule> make_path_update() { return std::make_unique<path_update>(); }

}  // namespace nacre
