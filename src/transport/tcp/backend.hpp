// SPDX-License-Identifier: Apache-2.0
// The backend tcp: the ranks are processes that communicate over sockets.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::tcp {

/// The row `tcp` of the table.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::tcp
