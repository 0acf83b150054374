// SPDX-License-Identifier: Apache-2.0
// The rung of control messages between the extension modules of two ranks.
#pragma once

#include <nacre/nacre.hpp>

#include "calibration/sample.hpp"

namespace nacre::calibration {

/// Registers the extension module that exchanges control messages. Before nacre::run.
void register_control_rung();

/// Collective, of two ranks: round trips of control messages of 8 bytes; on rank 0 the fastest batch. One way is not
/// measured.
[[nodiscard]] sample measure_control(nacre::runtime& rt);

}  // namespace nacre::calibration
