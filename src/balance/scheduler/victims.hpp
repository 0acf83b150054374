// SPDX-License-Identifier: Apache-2.0
// In which order a worker looks at the other thread contexts of its rank: the nearest first, where that is known.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <nacre/rng.hpp>
#include <nacre/scheduler.hpp>

namespace nacre {

/// How far the processors of a host are from each other: 0 for those that share the most, and 1, 2 ... for those that
/// meet at ever higher levels (core, cache, package, machine).
class nearness {
 public:
  /// `levels[a][b]` is the distance of the processors a and b, symmetric and below 16; `here` tells where its caller
  /// runs.
  nearness(std::vector<std::vector<std::uint8_t>> levels, std::function<std::uint32_t()> here);
  /// Of this host, from hwloc; null when all its processors are equally near. Takes some milliseconds.
  [[nodiscard]] static std::shared_ptr<const nearness> look_at_host();

  [[nodiscard]] std::uint32_t here() const { return here_(); }
  /// The highest level for processors that are not known.
  [[nodiscard]] std::uint8_t between(std::uint32_t a, std::uint32_t b) const noexcept {
    return a < levels_.size() && b < levels_.size() ? levels_[a][b] : highest_;
  }
  [[nodiscard]] std::uint8_t highest() const noexcept { return highest_; }

 private:
  std::vector<std::vector<std::uint8_t>> levels_;
  std::function<std::uint32_t()> here_;
  std::uint8_t highest_ = 0;
};

/// The thread contexts of a rank as victims. A thread is free to change its processor, so a thread_index notes where it is whenever it
/// looks for victims: what others see of it is an estimate.
class victims {
 public:
  /// `known` may be null; then all are equally near.
  victims(std::uint32_t threads, std::shared_ptr<const nearness> known);
  /// For the rank of a scheduler: what is known of this host, if it matters there.
  explicit victims(const scheduler_site& site);

  /// False: all thread contexts are equally near, and a look notes nothing.
  [[nodiscard]] bool by_distance() const noexcept { return known_ != nullptr; }

  /// Calls take(thread_index) for all thread contexts but `by`, those of each distance beginning at a random one, until it returns work.
  template <class Take>
  [[nodiscard]] work* visit(worker_id by, rng& random, Take take) {
    const std::uint32_t count = queues_;
    const auto first = static_cast<std::uint32_t>(random.below(count));
    const std::uint32_t own = note_place(by);
    const std::uint32_t levels = known_ == nullptr ? 1 : known_->highest() + 1u;
    for (std::uint32_t level = 0; level < levels; ++level) {
      std::uint32_t victim = first;
      for (std::uint32_t tried = 0; tried < count; ++tried, victim = victim + 1 == count ? 0 : victim + 1) {
        if (victim == by.value() || (levels != 1 && distance(own, victim) != level)) continue;
        if (work* const item = take(victim)) return item;
      }
    }
    return nullptr;
  }

 private:
  std::uint32_t note_place(worker_id by) {
    if (known_ == nullptr) return 0;
    const std::uint32_t place = known_->here();
    places_[by.value()].store(place, std::memory_order_relaxed);  // an estimate
    return place;
  }
  [[nodiscard]] std::uint8_t distance(std::uint32_t place, std::uint32_t victim) const {
    return known_->between(place, places_[victim].load(std::memory_order_relaxed));  // an estimate
  }

  std::uint32_t queues_;
  std::shared_ptr<const nearness> known_;
  std::vector<std::atomic<std::uint32_t>> places_;
};

}  // namespace nacre
