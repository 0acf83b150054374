// SPDX-License-Identifier: Apache-2.0
// Putting objects into buckets by their loads.
#include "mobile/object/load_index.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mobile/entry/object_entry.hpp"

namespace nacre {

std::size_t load_index::bucket_of(double load) noexcept {
  constexpr int least = -64;  // powers of two, in any unit: from 5e-20 to 2e19
  const int exponent = std::isfinite(load) ? std::ilogb(load) : std::numeric_limits<int>::max() / 2;
  return static_cast<std::size_t>(std::clamp(exponent - least, 0, static_cast<int>(buckets) - 1));
}

double load_index::counted(double load) noexcept { return std::min(load, 1e100); }

/// Holds the lock for as many steps as there are buckets.
double load_index::sum() {
  const std::scoped_lock lock(guard_);
  return std::accumulate(sums_.begin(), sums_.end(), 0.0);
}

void load_index::note(object_entry& entry, object_entry_extra& extra, double load) {
  const double known = extra.indexed.load(std::memory_order_relaxed);  // written by the activation only
  if (!(load > 0)) {
    if (known > 0) forget(extra);
    return;
  }
  if (known > 0 && std::abs(load - known) <= known / 8) return;
  const std::scoped_lock lock(guard_);
  if (known > 0) take_out(extra);
  std::vector<object_entry*>& bucket = buckets_[bucket_of(load)];
  extra.index_place = static_cast<std::uint32_t>(bucket.size());
  bucket.push_back(&entry);
  sums_[bucket_of(load)] += counted(load);
  extra.indexed.store(load, std::memory_order_relaxed);  // under the guard
  size_.fetch_add(1, std::memory_order_relaxed);
}

void load_index::forget(object_entry_extra& extra) {
  if (!(extra.indexed.load(std::memory_order_relaxed) > 0)) return;  // written by the activation only
  const std::scoped_lock lock(guard_);
  take_out(extra);
}

void load_index::take_out(object_entry_extra& extra) {
  const double load = extra.indexed.load(std::memory_order_relaxed);
  std::vector<object_entry*>& bucket = buckets_[bucket_of(load)];
  object_entry* const last = bucket.back();
  bucket[extra.index_place] = last;
  last->extra()->index_place = extra.index_place;
  bucket.pop_back();
  double& sum = sums_[bucket_of(load)];
  sum = bucket.empty() ? 0 : sum - counted(load);     // so that rounding errors do not add up for ever
  extra.indexed.store(0, std::memory_order_relaxed);  // under the guard
  size_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace nacre
