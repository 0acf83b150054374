// SPDX-License-Identifier: Apache-2.0
// The announcements of the participants, and the objects that may be destroyed because of them.
#include "base/epoch.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <nacre/assert.hpp>

#include "base/asymmetric_fence.hpp"

namespace nacre {

void epoch_limbo::seal(std::uint64_t epoch) noexcept {
  for (; sealed_ < waiting_.size(); ++sealed_) waiting_[sealed_].epoch = epoch;
}

epoch_limbo epoch_limbo::take_ready(std::uint64_t oldest) {
  epoch_limbo ready;
  while (sealed_ > 0 && waiting_.front().epoch < oldest) {
    ready.waiting_.push_back(waiting_.front());
    waiting_.pop_front();
    --sealed_;
  }
  return ready;
}

void epoch_limbo::absorb(epoch_limbo& other) {
  NACRE_EXPECT(!has_open() && !other.has_open(), "a limbo is sealed before it is merged");
  // An object of an older epoch behind one of a newer epoch only waits a little longer than it must.
  waiting_.insert(waiting_.end(), other.waiting_.begin(), other.waiting_.end());
  sealed_ = waiting_.size();
  other = {};
}

std::size_t epoch_limbo::destroy_all() noexcept {
  for (const retired& one : waiting_) one.destroy(one.object);
  const std::size_t count = waiting_.size();
  waiting_.clear();
  sealed_ = 0;
  return count;
}

epoch_domain::~epoch_domain() {
  NACRE_EXPECT(participants_.empty(), "all participants leave before their epoch_domain ends");
  limbo_.destroy_all();
}

void epoch_domain::retire(void* object, destroy_function destroy) {
  {
    const std::lock_guard lock(mutex_);
    limbo_.add(object, destroy);
    if (--until_collection_ > 0) return;
  }
  collect();
}

std::size_t epoch_domain::collect() {
  epoch_limbo ready;
  {
    const std::lock_guard lock(mutex_);
    until_collection_ = retirements_per_collection;
    if (limbo_.has_open()) limbo_.seal(advance());
    if (limbo_.size() > 0) ready = limbo_.take_ready(oldest_announced());
  }
  return ready.destroy_all();
}

std::uint64_t epoch_domain::oldest_announced() noexcept {
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  bool is_fenced = false;
  for (participant* const one : participants_) {
    std::uint64_t announced = one->announced_.load(std::memory_order_acquire);  // pairs with quiescent
    if (announced == offline_epoch) {
      // It may be going online now. Behind the fence either we find it online, or it sees everything that happened
      // before the fence. One fence serves all participants.
      if (!std::exchange(is_fenced, true)) asymmetric_fence::heavy();
      announced = one->announced_.load(std::memory_order_acquire);  // pairs with offline
    }
    if (announced != offline_epoch) oldest = std::min(oldest, announced);
  }
  return oldest;
}

epoch_domain::participant::participant(epoch_domain& domain) : domain_(domain) {
  const std::lock_guard lock(domain_.mutex_);
  domain_.participants_.push_back(this);
  online();
}

epoch_domain::participant::~participant() {
  offline();
  const std::lock_guard lock(domain_.mutex_);
  std::erase(domain_.participants_, this);
  if (limbo_.size() == 0) return;
  const std::uint64_t ending = domain_.advance();
  limbo_.seal(ending);
  domain_.limbo_.seal(ending);
  domain_.limbo_.absorb(limbo_);
}

void epoch_domain::participant::offline() noexcept {
  last_announced_ = offline_epoch;
  announced_.store(offline_epoch, std::memory_order_release);  // pairs with the loads in oldest_announced
}

void epoch_domain::participant::online() noexcept {
  last_announced_ = domain_.epoch_.load(std::memory_order_acquire);  // pairs with advance
  announced_.store(last_announced_, std::memory_order_release);      // pairs with the loads in oldest_announced
  asymmetric_fence::light();                                         // pairs with the heavy one there
}

void epoch_domain::participant::retire(void* object, destroy_function destroy) {
  limbo_.add(object, destroy);
  if (--until_collection_ == 0) collect();
}

std::size_t epoch_domain::participant::collect() {
  until_collection_ = retirements_per_collection;
  if (limbo_.has_open()) limbo_.seal(domain_.advance());
  if (limbo_.size() == 0) return 0;
  std::uint64_t oldest;
  {
    const std::lock_guard lock(domain_.mutex_);
    oldest = domain_.oldest_announced();
  }
  return limbo_.take_ready(oldest).destroy_all();
}

}  // namespace nacre
