// SPDX-License-Identifier: Apache-2.0
// A module that sends datagrams from rank to rank, and counts those that come.
#pragma once

#include <nacre/nacre.hpp>

namespace nacre::tests {

/// Makes the module known. Before nacre::run.
void register_courier();

/// Each rank sends 1600 datagrams to the next one, at most 8 at a time. Rank 0 prints "sent N came N wrong N": all that
/// the hosts took, those that came, and those that came twice, harmed, to the wrong rank, or that were too long and not
/// refused.
void send_datagrams(runtime& rt);

}  // namespace nacre::tests
