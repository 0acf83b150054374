// SPDX-License-Identifier: Apache-2.0
// The backend shm: the ranks are processes of one host that share memory.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::shm {

/// The row `shm` of the table.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::shm
