// SPDX-License-Identifier: Apache-2.0
// Where to cut a search in two.
#include "search.hpp"

#include <cstddef>
#include <nacre/assert.hpp>
#include <utility>

namespace uts {

search search::of_whole(const tree& tree) {
  search whole;
  whole.stack_.push_back(tree.root());
  whole.counts_.nodes = 1;
  return whole;
}

double search::expected_work(const tree& tree) const noexcept {
  double work = 0;
  for (const node& n : stack_) work += tree.expected_descendants(n.depth);
  return work;
}

bool search::worth_splitting(const tree& tree, double descendants_min) const noexcept {
  if (stack_.size() < 2) return false;
  double work = 0;
  for (const node& n : stack_) {
    work += tree.expected_descendants(n.depth);
    if (work >= 2 * descendants_min) return true;
  }
  return false;
}

search search::split_half(const tree& tree) {
  NACRE_EXPECT(stack_.size() >= 2, "a search is split only when it has a node to give and one to keep");
  const double half = expected_work(tree) / 2;
  std::size_t given = 0;
  double work = 0;
  do {
    work += tree.expected_descendants(stack_[given].depth);
    ++given;
  } while (given + 1 < stack_.size() && work < half);

  return split_oldest(given);
}

search search::split_oldest(std::size_t count) {
  NACRE_EXPECT(count < stack_.size(), "a search that is split keeps a node");
  search other;
  const auto cut = stack_.begin() + static_cast<std::ptrdiff_t>(count);
  other.stack_.assign(stack_.begin(), cut);
  stack_.erase(stack_.begin(), cut);
  return other;
}

void search::take_over(search&& other) {
  if (stack_.empty()) {
    stack_ = std::move(other.stack_);
  } else {
    stack_.insert(stack_.end(), other.stack_.begin(), other.stack_.end());
  }
  other.stack_.clear();
  counts_ += std::exchange(other.counts_, {});
}

}  // namespace uts
