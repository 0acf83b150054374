// SPDX-License-Identifier: Apache-2.0
// The address of this host that other hosts can reach.
#pragma once

#include <string>
#include <vector>

#include "join/net/socket.hpp"

namespace nacre::tool {

/// Whether the name means the host of this process: localhost, or the host's own name with or without its domain.
[[nodiscard]] bool is_this_host(const std::string& name);

/// The address, with port 0, at which the launcher of a job on these hosts listens. It is `asked`, a numeric address,
/// unless that is empty; the loopback address when all hosts are this one or have loopback addresses; otherwise the
/// source address of the route to the first other host with an address. Asks name servers, but sends nothing
/// to the hosts. Throws setup_error, which says how to name an address.
[[nodiscard]] net::address own_address(const std::vector<std::string>& hosts, const std::string& asked);

}  // namespace nacre::tool
