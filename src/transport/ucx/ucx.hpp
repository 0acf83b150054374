// SPDX-License-Identifier: Apache-2.0
// The backend whose ranks are processes of one or several hosts, and whose messages travel by UCX.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::ucx {

/// The row `ucx` of the table.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::ucx
