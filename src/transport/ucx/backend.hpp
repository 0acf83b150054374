// SPDX-License-Identifier: Apache-2.0
// The backend ucx: ranks are processes of one or several hosts that communicate by UCX.
#pragma once

#include "transport/transport.hpp"

namespace nacre::transport::ucx {

/// The row `ucx` of the table.
[[nodiscard]] backend make_backend() noexcept;

}  // namespace nacre::transport::ucx
