// SPDX-License-Identifier: Apache-2.0
// Work sharing between ranks through a manager, written on active messages.
#pragma once

#include "direct.hpp"

namespace uts {

/// Collective: searches the whole tree by sharing (UTS-MPI sections 2.3.1 and 3.1): rank 0 manages a queue of chunks
/// and does not search, unless it is alone. The others release their oldest `chunk` nodes when they have more than two
/// chunks, once in `interval` nodes at most, and ask for a chunk when they have nothing. Every rank gets the result.
[[nodiscard]] search_result search_by_sharing(nacre::runtime& rt, const direct_options& how);

/// The messages of the search. Each throws what ends the job when its sender may not send it now.
namespace sharing {

void begin(nacre::context& ctx);  ///< of a rank to itself, as the next one
void go_on(nacre::context& ctx);
void on_request(nacre::context& ctx, std::uint64_t released);  ///< `released`: chunks, before
void on_release(nacre::context& ctx, search chunk);
/// `left`: chunks in the queue; `waited`: seconds from when the manager took in the request, until it had this one.
void on_work(nacre::context& ctx, std::uint64_t left, double waited, search chunk);

}  // namespace sharing

}  // namespace uts
