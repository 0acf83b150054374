// SPDX-License-Identifier: Apache-2.0
// The numbers of the ranks whose jobs go on, of the whole process.
#include "base/rank_life.hpp"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace nacre {
namespace {

/// Of the process, since what outlives a job is owned by no rank.
struct lives_of_process {
  std::mutex mutex;
  std::unordered_set<std::uint32_t> going_on;  // under mutex
  std::uint32_t last = 0;                      // under mutex
  std::atomic<bool> any_over{false};           // relaxed: a caller with the number of an ended life comes after its end
};

/// Never destroyed: a future in a static variable may ask while the process exits.
lives_of_process& lives() {
  static auto& all = *new lives_of_process;
  return all;
}

}  // namespace

rank_life::rank_life() {
  lives_of_process& all = lives();
  const std::scoped_lock lock(all.mutex);
  do {
    number_ = ++all.last;
  } while (number_ == 0 || !all.going_on.insert(number_).second);
}

void rank_life::end() noexcept {
  if (ended_) return;
  ended_ = true;
  lives_of_process& all = lives();
  const std::scoped_lock lock(all.mutex);
  all.going_on.erase(number_);
  all.any_over.store(true, std::memory_order_relaxed);
}

bool rank_life::is_over(std::uint32_t number) noexcept {
  lives_of_process& all = lives();
  if (!all.any_over.load(std::memory_order_relaxed)) return false;
  const std::scoped_lock lock(all.mutex);
  return all.going_on.count(number) == 0;
}

}  // namespace nacre
