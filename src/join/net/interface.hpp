// SPDX-License-Identifier: Apache-2.0
// The network interfaces of this host.
#pragma once

#include <string>

#include "join/net/socket.hpp"

namespace nacre::net {

/// An address of this host that other hosts can reach, with port 0. `wanted`: the name of an interface ("eth0") or one
/// of its numeric addresses; empty: the first interface that is up and not the loopback one, IPv4 before IPv6. Throws
/// setup_error that lists the interfaces.
[[nodiscard]] address own_interface(const std::string& wanted);

}  // namespace nacre::net
