// SPDX-License-Identifier: Apache-2.0
// The entries that a rank keeps only to forward messages, oldest first.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <unordered_set>

#include <nacre/ids.hpp>

namespace nacre {

/// Ids of objects, the oldest in the list first. Any thread.
///
/// This rank may drop an entry if the object is elsewhere, its home is another rank, this rank has never numbered
/// messages in it, and the home knows that the object has left: a message that still comes here can go to the home. So
/// the list holds at most `count_max` of them; a caller that adds one more gets the oldest ones, and asks their homes.
class forwarding_list {
 public:
  explicit forwarding_list(std::size_t count_max) noexcept : count_max_(count_max) {}

  /// Adds an id. Returns up to two ids to review now; an unused place is not valid(). Each call adds one id and returns
  /// two, so a list that is too long gets shorter.
  using reviewed = std::array<object_id, 2>;
  [[nodiscard]] reviewed add(object_id id) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(id);
    reviewed oldest;
    for (object_id& each : oldest) {
      if (waiting_.size() <= count_max_) break;
      each = waiting_.front();
      waiting_.pop_front();
    }
    return oldest;
  }
  /// Notes that the home of a reviewed id is asked about it; the home answers once.
  void note_asked(object_id id) {
    const std::scoped_lock lock(mutex_);
    asked_.insert(id);
  }
  /// Notes the home's answer. False: the home had not been asked.
  [[nodiscard]] bool end_asking(object_id id) {
    const std::scoped_lock lock(mutex_);
    const auto match = asked_.find(id);
    if (match == asked_.end()) return false;
    asked_.erase(match);
    return true;
  }
  /// Puts back a reviewed id that must stay.
  void put_back(object_id id) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(id);
  }
  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.size();
  }

 private:
  const std::size_t count_max_;
  mutable std::mutex mutex_;
  std::deque<object_id> waiting_;
  std::unordered_multiset<object_id> asked_;  // an ended object may be asked about and listed again meanwhile
};

}  // namespace nacre
