// SPDX-License-Identifier: Apache-2.0
// Jump update: the sender of a forwarded message is told where it ended.
#include "mobile/location/rule.hpp"

namespace nacre {
namespace {

/// One update for each sender and epoch, so a burst that is under way causes one update, not one a message. PREMA
/// (section 4.1.2) keeps its directory in this way, lazily.
class jump_update final : public location_rule {
 public:
  [[nodiscard]] std::vector<rank_id> on_late_delivery(const late_delivery& late) const override {
    return {late.source};
  }
};

}  // namespace

std::unique_ptr<const location_rule> make_jump_update() { return std::make_unique<jump_update>(); }

}  // namespace nacre
