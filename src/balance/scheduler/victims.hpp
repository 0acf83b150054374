// SPDX-License-Identifier: Apache-2.0
// The order in which a worker tries to steal from the other threads of its rank: the nearest first, if that is known.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/rng.hpp>
#include <nacre/scheduler.hpp>

#include "exec/nearness.hpp"

namespace nacre {

/// The threads of a rank as victims of stealing. A thread may migrate between processors, so it notes its processor
/// whenever it looks for victims. For other threads that is an estimate.
class victims {
 public:
  /// `known` may be null; then all are equally near.
  victims(std::uint32_t threads, std::shared_ptr<const nearness> known);
  /// For the rank of a scheduler. Distances are used with at least 3 workers, and not under simulation.
  explicit victims(const scheduler_site& site);

  /// False: all threads are equally near, and visit notes no processor.
  [[nodiscard]] bool by_distance() const noexcept { return known_ != nullptr; }

  /// Calls take(index) for all threads but `worker`, until it returns work: by distance, and from a random start within
  /// each distance.
  template <class Take>
  [[nodiscard]] work* visit(worker_id worker, rng& random, Take take) {
    const std::uint32_t count = threads_;
    const auto first = static_cast<std::uint32_t>(random.below(count));
    const std::uint32_t own_place = note_place(worker);
    const std::uint32_t levels = known_ == nullptr ? 1 : known_->highest() + 1u;
    for (std::uint32_t level = 0; level < levels; ++level) {
      std::uint32_t victim = first;
      for (std::uint32_t tried = 0; tried < count; ++tried, victim = victim + 1 == count ? 0 : victim + 1) {
        if (victim == worker.value() || (levels != 1 && distance(own_place, victim) != level)) continue;
        if (work* const item = take(victim)) return item;
      }
    }
    return nullptr;
  }

 private:
  std::uint32_t note_place(worker_id worker) {
    if (known_ == nullptr) return 0;
    const std::uint32_t place = known_->here();
    places_[worker.value()].store(place, std::memory_order_relaxed);  // an estimate
    return place;
  }
  [[nodiscard]] std::uint8_t distance(std::uint32_t place, std::uint32_t victim) const {
    return known_->between(place, places_[victim].load(std::memory_order_relaxed));  // an estimate
  }

  std::uint32_t threads_;
  std::shared_ptr<const nearness> known_;
  std::vector<std::atomic<std::uint32_t>> places_;
};

}  // namespace nacre
