// SPDX-License-Identifier: Apache-2.0
// The limit of files and sockets that this process may have open.
#pragma once

#include <cstddef>
#include <string_view>

namespace nacre::net {

/// Makes sure that this process may open `count` descriptors for the connections of a job, and some more for everything
/// else: raises its own limit by so many, as far as it may, so that the program keeps those that it had for its own
/// files. Throws setup_error when that is not enough; `otherwise` is a clause that tells the user how to need fewer,
/// such as "choose --nacre.tcp.sockets=1".
void allow_descriptors(std::size_t count, std::string_view otherwise);

}  // namespace nacre::net
