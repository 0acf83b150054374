// SPDX-License-Identifier: Apache-2.0
// An unbalanced tree of handlers over all ranks whose size is known, to run beside modules that misbehave.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include <nacre/nacre.hpp>

namespace nacre::tests {

inline std::uint64_t hash_of(std::uint64_t node) noexcept {
  node = (node ^ (node >> 31)) * 0x9e3779b97f4a7c15U;
  node = (node ^ (node >> 29)) * 0xbf58476d1ce4e5b9U;
  return node ^ (node >> 32);
}
inline std::uint32_t children_of(std::uint64_t node, std::uint32_t depth) noexcept {
  return depth == 0 ? 0 : static_cast<std::uint32_t>(hash_of(node) >> 20) % 4 + (depth > 6 ? 1 : 0);
}

/// Ranks of one process count apart.
inline std::array<std::atomic<std::uint64_t>, 64>& counted_nodes() {
  static std::array<std::atomic<std::uint64_t>, 64> counts;
  return counts;
}

inline void visit_node(context& ctx, std::uint64_t node, std::uint32_t depth) {
  counted_nodes().at(ctx.rank().value()) += 1;
  ctx.charge(2e-6);
  for (std::uint32_t child = 0; child < children_of(node, depth); ++child) {
    const std::uint64_t next = hash_of(node * 5 + child + 1);
    ctx.send<visit_node>(rank_id(static_cast<std::uint32_t>(next % ctx.size())), next, depth - 1);
  }
}

/// The size of the tree, without any rank.
inline std::uint64_t nodes_below(std::uint64_t node, std::uint32_t depth) {
  std::uint64_t sum = 1;
  for (std::uint32_t child = 0; child < children_of(node, depth); ++child) {
    sum += nodes_below(hash_of(node * 5 + child + 1), depth - 1);
  }
  return sum;
}

inline constexpr std::uint64_t tree_root = 42;
inline constexpr std::uint32_t tree_depth = 14;

/// Whether the ranks have counted the tree exactly, `trees` times. Collective, once they are quiet.
inline bool tree_is_exact(runtime& rt, std::uint64_t trees) {
  const std::uint64_t own_nodes = counted_nodes().at(rt.rank().value()).exchange(0);
  return rt.all_reduce(own_nodes, std::plus<>{}) == trees * nodes_below(tree_root, tree_depth);
}

}  // namespace nacre::tests
