// SPDX-License-Identifier: Apache-2.0
// Messages that wait at the home of their object: they carry a newer epoch than the home knows, and its news is under
// way.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <nacre/message.hpp>

#include "mobile/entry/location.hpp"

namespace nacre {

/// A rank that has forwarded the message knew a newer place than the home does. The object has already left the place
/// to which the home would send the message, and the message would come back; so it waits here. The news of the
/// object's arrival, or of its end, is certain to come. Any thread.
class home_waiting_messages {
 public:
  [[nodiscard]] static bool missing(const known_location& known, const message_header& header) noexcept {
    return !known.gone && known.epoch < header.epoch;
  }

  /// Keeps a message for an object until `take`, and returns null; returns the message if the news is here already.
  [[nodiscard]] message_ptr wait(object_id id, const shared_location& location, message_ptr m) {
    const std::scoped_lock lock(mutex_);
    if (!missing(location.read(), m->header)) return m;
    waiting_[id].push_back(std::move(m));
    return nullptr;
  }
  /// Takes the messages that waited for news of the object. The caller has updated the location before.
  [[nodiscard]] message_list take(object_id id) {
    const std::scoped_lock lock(mutex_);
    const auto match = waiting_.find(id);
    if (match == waiting_.end()) return {};
    message_list all = std::move(match->second);
    waiting_.erase(match);
    return all;
  }

  /// Whether any message waits.
  [[nodiscard]] bool empty() {
    const std::scoped_lock lock(mutex_);
    return waiting_.empty();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<object_id, message_list> waiting_;
};

}  // namespace nacre
