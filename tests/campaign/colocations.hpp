// SPDX-License-Identifier: Apache-2.0
// Colocations in the random program.
#pragma once

#include <optional>

#include <nacre/nacre.hpp>

#include "campaign/actions.hpp"
#include "campaign/program.hpp"

namespace campaign {

/// Brings 2 to 16 objects together; for any handler or main. Nothing happens while there are too few.
void colocate_some(world& in, nacre::operations& op, stream_id stream);
/// The same, for somebody who awaits the result.
[[nodiscard]] std::optional<pending_call> ask_colocation(world& in, nacre::operations& op, stream_id stream);

}  // namespace campaign
