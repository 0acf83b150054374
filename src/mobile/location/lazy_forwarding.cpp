// SPDX-License-Identifier: Apache-2.0
// Lazy forwarding: no rank is told.
#include "mobile/location/rule.hpp"

namespace nacre {
namespace {

/// Messages follow the object along the ranks that it has visited, every time (Clam section 4.2, figure 5).
class lazy_forwarding final : public location_rule {};

}  // namespace

std::unique_ptr<const location_rule> make_lazy_forwarding() { return std::make_unique<lazy_forwarding>(); }

}  // namespace nacre
