// SPDX-License-Identifier: Apache-2.0
// Jump update: nobody is told of a migration; the sender of a forwarded message is told where it ended.
#include <nacre/error.hpp>

#include <string>

#include "mobile/location/policy.hpp"

namespace nacre {
namespace {

/// One update for each sender and epoch, so a burst that is under way causes one update, not one a message. It is also how PREMA
/// (section 4.1.2) keeps its directory, lazily.
class jump_update final : public location_policy {
 public:
  [[nodiscard]] std::vector<rank_id> on_arrival(rank_id) const override { return {}; }
  [[nodiscard]] bool tell_sender(const late_delivery& late) const override { return late.told_epoch < late.epoch; }
};

}  // namespace

std::unique_ptr<location_policy> make_location_policy(std::string_view name) {
  if (name == "jump_update") return std::make_unique<jump_update>();
  throw setup_error("there is no location policy '" + std::string(name) + "': try --nacre.location=jump_update");
}

}  // namespace nacre
