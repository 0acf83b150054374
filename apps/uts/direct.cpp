// SPDX-License-Identifier: Apache-2.0
// The search of one rank, and the sum over all.
#include "direct.hpp"

#include <functional>

namespace uts {

void rank_search::advance(nacre::context& ctx) {
  const double begin = ctx.now();
  const std::uint64_t before = work_.counts().nodes;
  work_.advance(tree_, kernel_, pace_.nodes());
  const std::uint64_t nodes = work_.counts().nodes - before;
  ctx.charge(static_cast<double>(nodes) * tree_.params().granularity * seconds_a_node_);
  pace_.generated(nodes, ctx.now() - begin);
}

search rank_search::surplus() {
  if (!chunk_) {
    const bool worth = work_.stack().size() >= stack_least_ && work_.worth_splitting(tree_);
    return worth ? work_.split_half(tree_) : search();
  }
  return work_.stack().size() > 2 * std::uint64_t{*chunk_} ? work_.split_oldest(*chunk_) : search();
}

search_result combined(nacre::runtime& rt, const direct_options& how, const tree_counts& own, double seconds,
                       std::string_view mode) {
  const tree_counts all = rt.all_reduce(own, [](tree_counts a, const tree_counts& b) { return a += b; });
  return {how.params, all, rt.broadcast(seconds, nacre::rank_id{0}), mode, select_sha1(how.sha).name};
}

}  // namespace uts
