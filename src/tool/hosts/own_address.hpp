// SPDX-License-Identifier: Apache-2.0
// The address of this host that other hosts can reach.
#pragma once

#include <string>
#include <vector>

#include "transport/net/socket.hpp"

namespace nacre::tool {

/// Whether the name means the host of this process: localhost, or what the host calls itself.
[[nodiscard]] bool is_this_host(const std::string& name);

/// Where a launcher of ranks on these hosts listens, with port 0: at `asked`, a numeric address, when it is not empty;
/// on the loopback interface when all hosts are this one, or have loopback addresses; otherwise where this host would
/// send from to reach the first of the others whose name has an address. Asks name servers, and sends nothing to the
/// hosts. Throws setup_error that says how to name one.
[[nodiscard]] transport::net::address own_address(const std::vector<std::string>& hosts, const std::string& asked);

}  // namespace nacre::tool
