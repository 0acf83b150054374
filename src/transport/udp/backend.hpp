// SPDX-License-Identifier: Apache-2.0
// The backend udp: the ranks are processes that send each other authenticated datagrams.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::udp {

/// The row `udp` of the table.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::udp
