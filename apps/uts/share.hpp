// SPDX-License-Identifier: Apache-2.0
// Work sharing between ranks through a manager, written on active messages.
#pragma once

#include <cstdint>

#include "rank_search.hpp"

namespace uts {

/// Collective: searches the whole tree by sharing (UTS-MPI sections 2.3.1 and 3.1): rank 0 manages a queue of chunks
/// and does not search, unless it is alone. The others release their oldest `chunk` nodes when they have more than two
/// chunks, once in `interval` nodes at most, and ask for a chunk when they have nothing. Every rank gets the result.
[[nodiscard]] search_result search_by_sharing(nacre::runtime& rt, const rank_search_options& options);

/// The messages of the search. Each throws what ends the job when its sender may not send it now.
namespace sharing {

void begin(nacre::context& ctx);  ///< a rank sends it to itself to start
void go_on(nacre::context& ctx);
void on_request(nacre::context& ctx,
                std::uint64_t released);  ///< `released`: chunks that the asker has released so far
void on_release(nacre::context& ctx, search chunk);
/// `left`: chunks in the queue; `waited`: seconds from the request's arrival until the manager had this chunk.
void on_work(nacre::context& ctx, std::uint64_t left, double waited, search chunk);

}  // namespace sharing

}  // namespace uts
