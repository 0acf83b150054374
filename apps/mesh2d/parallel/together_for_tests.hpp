// SPDX-License-Identifier: Apache-2.0
// The subdomains of a plan on one thread, for tests: in a random order, with messages that overtake each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <nacre/rng.hpp>

#include "kernel/check.hpp"
#include "kernel/refiner.hpp"
#include "parallel/plan.hpp"

namespace mesh2d {

/// Refines all parts until no split is under way. Returns false when there are more than `triangles_max` before that.
inline bool refine_together(plan& plan, std::uint64_t seed, std::size_t triangles_max = 400'000) {
  nacre::rng random(seed);
  std::vector<std::pair<std::uint32_t, piece_split>> under_way;
  std::vector<std::uint8_t> good(plan.parts.size());
  for (std::size_t busy = plan.parts.size(), triangles = 0; busy > 0 || !under_way.empty();) {
    if (!under_way.empty() && random.below(3) != 0) {
      std::swap(under_way[random.below(under_way.size())], under_way.back());
      const auto [target, split] = under_way.back();
      under_way.pop_back();
      refiner(plan.parts[target], plan.rule).apply(split);
      busy += good[target];
      good[target] = 0;
      continue;
    }
    const std::size_t turn = random.below(plan.parts.size());
    if (good[turn] != 0) continue;
    part& work = plan.parts[turn];
    const std::size_t previous = work.mesh.triangles.size();
    good[turn] = refiner(work, plan.rule).refine(1 + random.below(200));
    busy -= good[turn];
    under_way.insert(under_way.end(), work.state.to_tell.begin(), work.state.to_tell.end());
    work.state.to_tell.clear();
    triangles += work.mesh.triangles.size() - previous;
    if (triangles > triangles_max) return false;
  }
  return true;
}

/// As mesh2d --check does it, on one thread.
inline findings check_together(const plan& plan) {
  findings all;
  std::map<std::pair<std::uint32_t, std::uint32_t>, interface_record> records;  // by part and piece
  for (std::uint32_t k = 0; k < plan.parts.size(); ++k) {
    all.merge(check_part(plan.parts[k], plan.rule));
    for (const interface_record& each : interfaces_of(plan.parts[k])) records[{k, each.piece}] = each;
  }
  for (const auto& [source, mine] : records) {
    const auto theirs = records.find({mine.neighbour, mine.piece});
    if (theirs == records.end() || theirs->second.fractions != mine.fractions) all.fault("interfaces differ");
  }
  judge_whole(plan, all);
  return all;
}

}  // namespace mesh2d
