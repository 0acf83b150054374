// SPDX-License-Identifier: Apache-2.0
// Messages that have heard more of their object than its home, until the home has been told.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <nacre/message.hpp>

#include "mobile/location/fact.hpp"

namespace nacre {

/// Somebody on such a message's way has known of an epoch whose beginning the home has not been told of yet. Where the
/// home would send it the object has left already, and it would come back; so it waits here. The news is certain to
/// come: of the object's arrival, or of its end. Any thread.
class awaited_news {
 public:
  [[nodiscard]] static bool missing(const location_fact& known, const message_header& header) noexcept {
    return !known.gone && known.epoch < header.epoch;
  }

  /// Keeps a message for an object until `take`; gives it back when the news has come meanwhile.
  [[nodiscard]] message_ptr wait(object_id id, const shared_fact& fact, message_ptr m) {
    const std::scoped_lock lock(mutex_);
    if (!missing(fact.read(), m->header)) return m;
    waiting_[id].push_back(std::move(m));
    return nullptr;
  }
  /// What has waited for news of the object, whose fact has become newer before.
  [[nodiscard]] message_list take(object_id id) {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return {};
    message_list all = std::move(found->second);
    waiting_.erase(found);
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
