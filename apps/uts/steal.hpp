// SPDX-License-Identifier: Apache-2.0
// Work stealing between ranks, written on active messages.
#pragma once

#include "rank_search.hpp"

namespace uts {

/// Collective: searches the whole tree by random stealing (UTS-MPI sections 2.3.2 and 3.2): a rank without work asks
/// random ranks, one at a time. The asked rank checks for requests every `interval` nodes, and gives the oldest `chunk`
/// nodes if it has more than two chunks. A token that goes round ends it (nacre::token_ring). Every rank gets the
/// result.
[[nodiscard]] search_result search_by_stealing(nacre::runtime& rt, const rank_search_options& options);

/// The messages of the search. Each throws, which ends the job, when its sender may not send it now.
namespace stealing {

void begin(nacre::context& ctx);  ///< a rank sends it to itself to start
void go_on(nacre::context& ctx);
void on_request(nacre::context& ctx, bool waits);  ///< `waits`: until there is something, rather than be refused
void on_refusal(nacre::context& ctx);
void on_work(nacre::context& ctx, search given);
void on_token(nacre::context& ctx, nacre::ring_token token);

}  // namespace stealing

}  // namespace uts
