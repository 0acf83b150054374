// SPDX-License-Identifier: Apache-2.0
// Which entries a rank keeps only so that others find objects that have left, and when it should let go of them.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <unordered_set>

#include <nacre/ids.hpp>

namespace nacre {

/// Names of objects, the one that has been here longest first. Any thread.
///
/// An entry whose object is elsewhere, whose home is another rank and by which this rank has never sent is needed by
/// nobody as soon as the home knows of the object's departure: a message that still comes here can go to the home. So
/// there may be `count_max` of them; whoever adds one more is given the oldest ones, and asks their homes.
class forwarding_list {
 public:
  explicit forwarding_list(std::size_t count_max) noexcept : count_max_(count_max) {}

  /// Up to two names that are to be taken up now: then a list that has become too long gets shorter. Others are not
  /// valid().
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
  /// The home of a name that was taken up is asked about it; it answers once.
  void note_asked(object_id id) {
    const std::scoped_lock lock(mutex_);
    asked_.insert(id);
  }
  /// The home has answered; false: it had not been asked.
  [[nodiscard]] bool end_asking(object_id id) {
    const std::scoped_lock lock(mutex_);
    const auto found = asked_.find(id);
    if (found == asked_.end()) return false;
    asked_.erase(found);
    return true;
  }
  /// A name that was taken up and must stay.
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
  std::unordered_multiset<object_id> asked_;  // an object that has ended may be asked about and listed again meanwhile
};

}  // namespace nacre
