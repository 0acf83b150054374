// SPDX-License-Identifier: Apache-2.0
// Sort, branches, top, walks.
#include "forest.hpp"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <functional>

namespace nbody {
namespace {

/// Appends the branches of the bodies from `first` to `end`, which are those of `cell`.
void cut(std::span<const curve_key> keys, std::size_t first, std::size_t end, const curve_cell& cell,
         std::vector<counted_cell>& branches) {
  if (first == end) return;
  if (end - first <= branch_bodies_max || cell.level == levels_max) {
    branches.push_back({cell, end - first});
    return;
  }
  for (std::uint32_t octant = 0; octant < 8; ++octant) {
    const curve_cell child = cell.child(octant);
    const auto last = std::lower_bound(keys.begin() + static_cast<std::ptrdiff_t>(first),
                                       keys.begin() + static_cast<std::ptrdiff_t>(end), child.end());
    const auto next = static_cast<std::size_t>(last - keys.begin());
    cut(keys, first, next, child, branches);
    first = next;
  }
}

tree_rules rules_of(std::span<const body> bodies, const accuracy& wanted, const softening& soft) {
  vector3 low = bodies[0].place, high = low;
  tree_rules rules{.mass_unit = 0, .wanted = wanted};
  for (const body& each : bodies) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], each.place[axis]), high[axis] = std::max(high[axis], each.place[axis]);
    }
    rules.mass_unit += each.mass;
  }
  rules.bounds = frame_around(low, high);
  rules.spline_length = soft.shape == softening_shape::spline ? 2.8 * soft.length : 0;
  return rules;
}

/// All branches, and the top above them.
class forest {
 public:
  forest(std::span<const body> bodies, std::span<const curve_key> keys, const std::vector<counted_cell>& cells,
         const tree_rules& rules) {
    std::size_t first = 0;
    for (const counted_cell& each : cells) {
      trees_.push_back(build_branch(bodies.subspan(first, each.count), keys.subspan(first, each.count), each.cell,
                                    static_cast<std::uint32_t>(trees_.size()), rules));
      roots_.push_back(trees_.back().root);
      views_.push_back(trees_.back().view());
      first += each.count;
    }
    top_ = build_top(roots_, rules);
  }

  void walk(const tree_rules& rules, const walk_rules& walk_rules, const kernel_set& kernels,
            forest_result& result) const {
    const result_units units = units_of(rules);
    walk_memory memory;
    walk_task task{.tree = top_.root(), .branches = views_.data(), .rules = walk_rules};
    std::size_t first = 0;
    for (std::size_t k = 0; k < trees_.size(); ++k) {
      const std::size_t count = trees_[k].x.size();
      memory.prepare(count, roots_[k].largest_leaf);
      task.parent = top_.group_at(top_.places[k].group, rules.wanted.order), task.lane = top_.places[k].lane;
      kernels.walk[rules.wanted.order - order_min](task, memory, result.counts);
      for (std::size_t index = 0; index < count; ++index) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
          result.accelerations[first + index][axis] =
              units.acceleration * static_cast<double>(memory.results[axis][index]);
        }
        if (walk_rules.potential) {
          result.potentials[first + index] = -units.potential * static_cast<double>(memory.results[3][index]);
        }
      }
      first += count;
    }
  }

 private:
  std::vector<branch_tree> trees_;
  std::vector<branch_root> roots_;
  std::vector<branch_view> views_;
  top_tree top_;
};

}  // namespace

double thread_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

walk_rules walk_rules_for(const tree_rules& rules, const softening& soft, bool potential) {
  // Keeps a body from acting on itself, and is too small to change anything else: 1e-12 of a branch.
  constexpr float tiny = 1e-24f;
  const double length = soft.length / rules.bounds.unit;
  walk_rules result;
  result.target_factor = static_cast<float>(1 / rules.wanted.target_angle);
  result.shape = soft.length > 0 ? soft.shape : softening_shape::plummer;
  result.softening_squared =
      result.shape == softening_shape::plummer ? std::max(tiny, static_cast<float>(length * length)) : tiny;
  result.spline_length = static_cast<float>(2.8 * length);
  result.refined = rules.wanted.refined;
  result.potential = potential;
  return result;
}

result_units units_of(const tree_rules& rules) noexcept {
  const double unit = rules.bounds.unit;
  return {rules.mass_unit / (unit * unit), rules.mass_unit / unit};
}

forest_result forces_of(std::vector<body>& bodies, const accuracy& wanted, const softening& soft,
                        const kernel_set& kernels, bool potential) {
  forest_result result;
  double begin = thread_seconds();
  tree_rules rules = rules_of(bodies, wanted, soft);
  const std::vector<curve_key> keys = sort_along_curve(bodies, rules.bounds);
  std::vector<counted_cell> cells;
  cut(keys, 0, keys.size(), curve_cell{}, cells);
  rules.bounds.unit = unit_of(cells, rules.bounds.size);
  result.sort_seconds = thread_seconds() - begin;

  begin = thread_seconds();
  const forest trees(bodies, keys, cells, rules);
  result.branches = static_cast<std::uint32_t>(cells.size());
  result.tree_seconds = thread_seconds() - begin;

  begin = thread_seconds();
  result.accelerations.resize(bodies.size());
  if (potential) result.potentials.resize(bodies.size());
  trees.walk(rules, walk_rules_for(rules, soft, potential), kernels, result);
  result.walk_seconds = thread_seconds() - begin;
  return result;
}

}  // namespace nbody
