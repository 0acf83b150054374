// SPDX-License-Identifier: Apache-2.0
// Counts things by node and walks over the nodes that have any, whether these are few or many.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nacre::emulator {

/// A count for each of some neighbouring nodes. A bit for each node that has one, and a bit for each word of these: a
/// walk over few nodes of a million costs hardly more than the few.
class node_order {
 public:
  /// For nodes of numbers below `nodes`.
  explicit node_order(std::uint32_t nodes) : counts_(nodes), some_(nodes / 64 + 1), words_(nodes / 4096 + 1) {}

  void count(std::uint32_t node) noexcept {
    ++counts_[node];
    some_[node / 64] |= std::uint64_t{1} << (node % 64);
    words_[node / 4096] |= std::uint64_t{1} << (node / 64 % 64);
  }
  /// Calls visit(node, count&) for each node of the first `nodes` that has been counted since the last walk, in order
  /// of numbers. The caller sets the counts back to 0 before the next counting.
  template <class Visit>
  void walk(std::uint32_t nodes, Visit visit) noexcept {
    for (std::size_t k = 0; k <= nodes / 4096; ++k) {
      for (; words_[k] != 0; words_[k] &= words_[k] - 1) {
        const std::size_t word = 64 * k + static_cast<std::size_t>(std::countr_zero(words_[k]));
        for (; some_[word] != 0; some_[word] &= some_[word] - 1) {
          const std::size_t node = 64 * word + static_cast<std::size_t>(std::countr_zero(some_[word]));
          visit(static_cast<std::uint32_t>(node), counts_[node]);
        }
      }
    }
  }
  [[nodiscard]] std::uint32_t& operator[](std::uint32_t node) noexcept { return counts_[node]; }

 private:
  std::vector<std::uint32_t> counts_;
  std::vector<std::uint64_t> some_, words_;
};

}  // namespace nacre::emulator
