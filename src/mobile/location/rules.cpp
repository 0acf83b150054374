// SPDX-License-Identifier: Apache-2.0
// The table of all rules.
#include <nacre/assert.hpp>

#include "mobile/location/rule.hpp"

namespace nacre {

location_rules::location_rules(location_policy of_program)
    : of_program_(of_program), rules_{make_lazy_forwarding(),  make_jump_update(),      make_path_update(), make_home(),
                                      make_broadcast_update(), make_subscriber_update()} {
  NACRE_EXPECT(known(static_cast<std::uint8_t>(of_program)), "a program chooses a policy by its name");
}

}  // namespace nacre
