// SPDX-License-Identifier: Apache-2.0
// The end of the random program: everything is destroyed, and nothing of it may be left.
#pragma once

#include <nacre/nacre.hpp>

#include "campaign/program.hpp"

namespace campaign {

/// Behind the last phase, in each main.
void end_of_main(nacre::runtime& rt, world& in);

}  // namespace campaign
