// SPDX-License-Identifier: Apache-2.0
// Patches of a rank, and its scratch memory.
#include "parallel/world.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace waves {

void world::set(std::shared_ptr<const problem> subject, const cut& cut, bool is_simulated) {
  problem_ = std::move(subject);
  cut_ = cut;
  is_simulated_ = is_simulated;
  const std::scoped_lock lock(mutex_);
  patches_.clear();
  rooms_.clear();
}

void world::mark_unstable(nacre::context&) {
  const std::scoped_lock lock(mutex_);
  is_unstable_ = true;
}

bool world::is_unstable() {
  const std::scoped_lock lock(mutex_);
  return is_unstable_;
}

void world::enter(int number, const std::shared_ptr<patch_data>& data) {
  const std::scoped_lock lock(mutex_);
  patches_[number] = data;
}

std::shared_ptr<patch_data> world::find(int number) {
  const std::scoped_lock lock(mutex_);
  const auto match = patches_.find(number);
  return match == patches_.end() ? nullptr : match->second.lock();
}

std::unique_ptr<scratch> world::take_scratch() {
  const std::scoped_lock lock(mutex_);
  if (rooms_.empty()) return std::make_unique<scratch>();
  std::unique_ptr<scratch> room = std::move(rooms_.back());
  rooms_.pop_back();
  return room;
}

void world::give_back(std::unique_ptr<scratch> room) {
  const std::scoped_lock lock(mutex_);
  rooms_.push_back(std::move(room));
}

}  // namespace waves
