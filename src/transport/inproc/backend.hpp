// SPDX-License-Identifier: Apache-2.0
// The backend whose ranks are threads of one process and hand messages over by pointer.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::inproc {

/// The row `inproc` of the table. Unbounded: an inbox links blocks that its senders own already, so submit takes all.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::inproc
