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

std::vector<curve_cell> cutter::cells() const {
  std::vector<curve_cell> cells;
  for (const counted_cell& each : cells_) cells.push_back(each.cell);
  return cells;
}

void cutter::update(std::uint64_t bodies_max, const std::vector<std::uint64_t>& counts, const cell_counter& count) {
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

namespace {

/// Sums of the first 0, 1, 2, ... weights.
std::vector<double> sums_of(const std::vector<double>& weights) {
  std::vector<double> sums{0};
  for (const double each : weights) sums.push_back(sums.back() + each);
  return sums;
}

/// The farthest end of a run that begins at `first` and weighs at most `bound`.
std::size_t farthest_end(const std::vector<double>& sums, std::size_t first, double bound) {
  const auto next =
      std::upper_bound(sums.begin() + static_cast<std::ptrdiff_t>(first), sums.end(), sums[first] + bound);
  return static_cast<std::size_t>(next - sums.begin()) - 1;
}

bool suffices(const std::vector<double>& sums, std::uint32_t runs, double bound) {
  std::size_t first = 0;
  for (std::uint32_t run = 0; run < runs && first + 1 < sums.size(); ++run) first = farthest_end(sums, first, bound);
  return first + 1 == sums.size();
}

/// A weight that suffices for each of the runs, and is hardly above the least one.
double bound_of_runs(const std::vector<double>& sums, std::uint32_t runs) {
  double low = sums.back() / runs, high = sums.back();
  while (high - low > 1e-3 * low) {
    const double middle = (low + high) / 2;
    (suffices(sums, runs, middle) ? high : low) = middle;
  }
  return high * (1 + 1e-9);  // for the rounding of sums
}

}  // namespace

std::vector<std::uint32_t> cut_runs(const std::vector<double>& weights, std::uint32_t runs) {
  const std::vector<double> sums = sums_of(weights);
  const std::size_t end = weights.size();
  const double bound = bound_of_runs(sums, runs);
  // From the back: the first place at which a run may begin so that the runs from it on reach the end.
  std::vector<std::size_t> earliest(runs + 1, end);
  for (std::uint32_t run = runs; run-- > 0;) {
    const auto first = std::lower_bound(sums.begin(), sums.end(), sums[earliest[run + 1]] - bound);
    earliest[run] = static_cast<std::size_t>(first - sums.begin());
  }
  std::vector<std::uint32_t> first(runs + 1, static_cast<std::uint32_t>(end));
  first[0] = 0;
  for (std::uint32_t run = 1; run < runs; ++run) {
    const double wanted = sums.back() * run / runs;
    auto near = static_cast<std::size_t>(std::lower_bound(sums.begin(), sums.end(), wanted) - sums.begin());
    if (near > 0 && wanted - sums[near - 1] < sums[near] - wanted) --near;
    const std::size_t least = std::max<std::size_t>(earliest[run], first[run - 1]);
    const std::size_t most = std::max(least, farthest_end(sums, first[run - 1], bound));
    first[run] = static_cast<std::uint32_t>(std::clamp(near, least, most));
  }
  return first;
}

std::vector<std::uint32_t> cut_nested_runs(const std::vector<double>& weights,
                                           const std::vector<std::uint32_t>& groups) {
  const auto parts = static_cast<std::uint32_t>(groups.size());
  if (!std::is_sorted(groups.begin(), groups.end())) return cut_runs(weights, parts);
  std::vector<std::uint32_t> sizes;  // of the groups
  for (std::uint32_t part = 0; part < parts; ++part) {
    if (part == 0 || groups[part] != groups[part - 1]) sizes.push_back(0);
    ++sizes.back();
  }
  const std::vector<std::uint32_t> begins = cut_runs(weights, static_cast<std::uint32_t>(sizes.size()));
  std::vector<std::uint32_t> first;
  for (std::size_t group = 0; group < sizes.size(); ++group) {
    const auto begin = weights.begin() + begins[group], end = weights.begin() + begins[group + 1];
    std::vector<std::uint32_t> inner = cut_runs(std::vector<double>(begin, end), sizes[group]);
    inner.pop_back();
    for (const std::uint32_t each : inner) first.push_back(begins[group] + each);
  }
  first.push_back(begins.back());
  return first;
}

double greatest_group(const std::vector<double>& weights, const std::vector<std::uint32_t>& first,
                      const std::vector<std::uint32_t>& groups) {
  std::vector<double> sums(*std::max_element(groups.begin(), groups.end()) + 1);
  for (std::size_t run = 0; run < groups.size(); ++run) {
    for (std::uint32_t k = first[run]; k < first[run + 1]; ++k) sums[groups[run]] += weights[k];
  }
  return *std::max_element(sums.begin(), sums.end());
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
