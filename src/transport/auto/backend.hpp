// SPDX-License-Identifier: Apache-2.0
// The backend auto: shm among the ranks of one host, and tcp, udp or ucx between hosts, as one transport.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::auto_transport {

/// Its row in the table of backends.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::auto_transport
