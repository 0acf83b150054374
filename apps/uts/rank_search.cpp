// SPDX-License-Identifier: Apache-2.0
// The search of one rank, and the sum over all.
#include "rank_search.hpp"

#include <algorithm>
#include <functional>

namespace uts {

void rank_search::advance(nacre::context& ctx) {
  if (looks_owed_ > 0) {
    --looks_owed_;
    return;
  }
  const double begin = ctx.now();
  const std::uint64_t previous = work_.counts().nodes;
  work_.advance(*tree_, kernel_, pace_.nodes());
  const std::uint64_t nodes = work_.counts().nodes - previous;
  ctx.charge(static_cast<double>(nodes) * tree_->params().granularity * seconds_a_node_);
  if (!work_.finished()) looks_owed_ = std::max<std::uint64_t>(nodes / pace_.nodes(), 1) - 1;
  last_node_at_ = ctx.now();
  pace_.generated(nodes, last_node_at_ - begin);
}

search rank_search::surplus() {
  search chunk = split();
  chunks_given_ += chunk.finished() ? 0 : 1;
  return chunk;
}

search rank_search::split() {
  if (!chunk_) {
    const bool worth = work_.stack().size() >= stack_least_ && work_.worth_splitting(*tree_);
    return worth ? work_.split_half(*tree_) : search();
  }
  return work_.stack().size() > 2 * std::uint64_t{*chunk_} ? work_.split_oldest(*chunk_) : search();
}

search_result combined(nacre::runtime& rt, const rank_search_options& options, const rank_search& rank_search,
                       double start, double seconds, sharing_figures own, std::string_view mode) {
  const tree_counts all =
      rt.all_reduce(rank_search.counts(), [](tree_counts a, const tree_counts& b) { return a += b; });
  own.last_node = rank_search.last_node_at() > 0 ? rank_search.last_node_at() - start : 0;
  own.chunks = rank_search.chunks_given();
  const sharing_figures sharing = rt.all_reduce(own, std::plus<>{});
  return {options.params, all, rt.broadcast(seconds, nacre::rank_id{0}), mode, select_sha1(options.sha).name, sharing};
}

}  // namespace uts
