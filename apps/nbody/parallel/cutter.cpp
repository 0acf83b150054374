// SPDX-License-Identifier: Apache-2.0
// Merges, counts, splits.
#include "parallel/cutter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "numerics/forest.hpp"

namespace nbody {

void cutter::update(std::uint64_t bodies_max, const cell_counter& count) {
  std::vector<curve_cell> cells;
  for (const counted_cell& each : cells_) cells.push_back(each.cell);
  const std::vector<std::uint64_t> counts = count(cells);
  for (std::size_t k = 0; k < cells_.size(); ++k) cells_[k].count = counts[k];
  rounds_ = 1;
  while (split(bodies_max, count)) ++rounds_;
  merge(bodies_max);
}

std::vector<counted_cell> cutter::branches() const {
  std::vector<counted_cell> result;
  std::copy_if(cells_.begin(), cells_.end(), std::back_inserter(result),
               [](const auto& each) { return each.count > 0; });
  return result;
}

void cutter::merge(std::uint64_t bodies_max) {
  std::vector<counted_cell> merged;
  for (const counted_cell& each : cells_) {
    merged.push_back(each);
    while (merged.back().cell.level > 0 && merged.size() >= 8) {
      const std::uint32_t level = merged.back().cell.level - 1;
      if (curve_cell::octant_of(merged.back().cell.first, level) != 7) break;
      const auto first = merged.end() - 8;
      const bool are_siblings =
          std::all_of(first, merged.end(), [&](const auto& subject) { return subject.cell.level == level + 1; });
      const auto add = [](std::uint64_t sum, const counted_cell& cell) { return sum + cell.count; };
      const std::uint64_t sum = std::accumulate(first, merged.end(), std::uint64_t{0}, add);
      if (!are_siblings || sum > bodies_max) break;
      const counted_cell parent{{first->cell.first, level}, sum};
      merged.erase(first, merged.end());
      merged.push_back(parent);
    }
  }
  cells_ = std::move(merged);
}

bool cutter::split(std::uint64_t bodies_max, const cell_counter& count) {
  std::vector<counted_cell> next;
  std::vector<curve_cell> asked;
  std::vector<std::size_t> places;  // of the asked cells among the next
  for (const counted_cell& each : cells_) {
    if (each.count <= bodies_max || each.cell.level == levels_max) {
      next.push_back(each);
      continue;
    }
    for (std::uint32_t octant = 0; octant < 8; ++octant) {
      const curve_cell child = each.cell.child(octant);
      for (std::uint32_t inner = 0; inner < (child.level < levels_max ? 8 : 1); ++inner) {
        asked.push_back(child.level < levels_max ? child.child(inner) : child);
        places.push_back(next.size());
        next.push_back({asked.back(), 0});
      }
    }
  }
  if (asked.empty()) return false;
  const std::vector<std::uint64_t> counts = count(asked);
  for (std::size_t k = 0; k < counts.size(); ++k) next[places[k]].count = counts[k];
  cells_ = std::move(next);
  return true;
}

std::uint64_t branch_bodies_for(std::uint64_t bodies) noexcept {
  return std::clamp<std::uint64_t>(bodies / 128, 128, branch_bodies_max);
}

std::vector<std::uint32_t> cut_runs(const std::vector<double>& weights, std::uint32_t runs) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint32_t> first(runs + 1, static_cast<std::uint32_t>(weights.size()));
  double sum = 0;
  std::uint32_t run = 0;
  for (std::uint32_t k = 0; k < weights.size(); ++k) {
    const double middle = sum + weights[k] / 2;
    while (run < runs && middle * runs >= all * run) first[run++] = k;
    sum += weights[k];
  }
  return first;
}

std::vector<std::uint32_t> runs_from(const std::vector<vector3>& corners, const std::vector<counted_cell>& branches,
                                     const frame& frame) {
  std::vector<std::uint32_t> first;
  const auto prologue = [](const counted_cell& branch, curve_key key) { return branch.cell.first < key; };
  for (const vector3& corner : corners) {
    const auto match = std::lower_bound(branches.begin(), branches.end(), frame.key_of(corner), prologue);
    const auto next = static_cast<std::uint32_t>(match - branches.begin());
    first.push_back(first.empty() ? 0 : std::max(first.back(), next));  // a new frame may turn their order
  }
  first.push_back(static_cast<std::uint32_t>(branches.size()));
  return first;
}

}  // namespace nbody
