// SPDX-License-Identifier: Apache-2.0
// The end of a group for messages that main has not asked for, and for requests that no message has come to.
#pragma once

#include <cstdint>

namespace nacre {

class engine;
class thread_context;

/// Fails the requests, answers the calls, and prints a line for each function with messages that main has not asked
/// for. The thread of main, while no handler uses the group.
void end_requests(engine& core, thread_context& thread, std::uint32_t group);

}  // namespace nacre
