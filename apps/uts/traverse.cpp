// SPDX-License-Identifier: Apache-2.0
// The inner loop: gather parents, hash all their children at once, keep the children that are not leaves.
#include "traverse.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace uts {
namespace {

/// Hashes are computed in groups of this many and up to one parent's children more. Large enough to fill the lanes of
/// any processor, small enough that a small search stays depth first and its data in the first-level cache.
constexpr std::size_t group_jobs = 64;
constexpr std::size_t run_max = children_max;
constexpr std::size_t jobs_max = group_jobs + run_max;

/// A group of children to generate, and where they belong.
class child_group {
 public:
  /// Of as many jobs as `jobs_min`, at most group_jobs, and up to one run more.
  child_group(const tree& tree, const sha1_kernel& sha1, std::uint64_t jobs_min) noexcept
      : tree_(tree), sha1_(sha1), jobs_min_(std::min<std::uint64_t>(jobs_min, group_jobs)) {}

  [[nodiscard]] bool empty() const noexcept { return job_count_ == 0; }
  [[nodiscard]] bool full() const noexcept { return job_count_ >= jobs_min_; }
  [[nodiscard]] std::size_t size() const noexcept { return job_count_; }

  /// Adds children first .. first + count - 1 of `parent`. Requires !full() and 0 < count <= run_max.
  void add(const node& parent, std::uint32_t first, std::uint32_t count) noexcept {
    const child_table& table = tree_.table(parent.depth + 1);
    states_[parent_count_] = parent.state;
    fates_[parent_count_] = {parent.depth + 1, table.inner_first(), table.inner_count()};
    // Eight at once without a branch that depends on the count; what lies beyond is overwritten by the next parent.
    child_ref* job = jobs_.data() + job_count_;
    std::uint32_t k = 0;
    do {
      for (std::uint32_t end = k + 8; k < end; ++k) job[k] = {parent_count_, first + k};
    } while (k < count);
    job_count_ += count;
    ++parent_count_;
  }

  /// Generates the children, writes those that may have children to `top` on, which has room for size() nodes, and
  /// starts a new group. Returns the end of what it wrote.
  node* generate(node* top, tree_counts& counts) noexcept {
    const std::span<const child_ref> jobs(jobs_.data(), job_count_);
    for (std::uint32_t g = 0; g < tree_.params().granularity; ++g) {
      sha1_.hash_children(states_.data(), jobs, children_.data());
    }
    node* const bottom = top;
    for (std::size_t k = 0; k < job_count_; ++k) {
      const fate& outcome = fates_[jobs[k].parent];
      *top = {children_[k], outcome.depth};
      top += top->draw() - outcome.inner_first < outcome.inner_count ? 1 : 0;
    }
    for (std::size_t k = 0; k < parent_count_; ++k) counts.depth = std::max(counts.depth, fates_[k].depth);
    counts.nodes += job_count_;
    counts.leaves += job_count_ - static_cast<std::size_t>(top - bottom);
    job_count_ = 0;
    parent_count_ = 0;
    return top;
  }

 private:
  /// What becomes of the children of one parent: their depth, and which draws make them inner nodes.
  struct fate {
    std::uint32_t depth;
    std::uint32_t inner_first;
    std::uint32_t inner_count;
  };

  const tree& tree_;
  const sha1_kernel& sha1_;
  const std::size_t jobs_min_;
  std::uint32_t parent_count_ = 0;
  std::size_t job_count_ = 0;
  std::array<sha1_state, group_jobs> states_;
  std::array<fate, group_jobs> fates_;
  std::array<child_ref, jobs_max + 8> jobs_;
  std::array<sha1_state, jobs_max> children_;
};

}  // namespace

void traverse_some(const tree& tree, const sha1_kernel& sha1, std::vector<node>& stack, std::uint64_t budget,
                   tree_counts& counts) {
  const std::uint64_t nodes_end = counts.nodes + std::min(budget, UINT64_MAX - counts.nodes);
  child_group group(tree, sha1, budget);
  std::size_t size = stack.size();  // of the stack; beyond it, `stack` holds room for a group
  const auto generate = [&] {
    if (size + jobs_max > stack.size()) stack.resize(size + 2 * jobs_max);
    node* const top = group.generate(stack.data() + size, counts);
    size = static_cast<std::size_t>(top - stack.data());
  };
  while (size > 0 && counts.nodes < nodes_end) {
    const node parent = stack[--size];
    const std::uint32_t children = tree.children(parent);
    if (children == 0) ++counts.leaves;
    for (std::uint32_t first = 0; first < children; first += run_max) {
      group.add(parent, first, std::min<std::uint32_t>(children - first, run_max));
      if (group.full()) generate();
    }
    if (size == 0 && !group.empty()) generate();
  }
  if (!group.empty()) generate();
  stack.resize(size);
}

}  // namespace uts
