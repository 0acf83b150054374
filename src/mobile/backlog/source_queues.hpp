// SPDX-License-Identifier: Apache-2.0
// The objects with messages waiting at this rank.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include <nacre/ids.hpp>
#include <nacre/message.hpp>

#include "base/cache_line.hpp"
#include "mobile/backlog/source_queue.hpp"

namespace nacre {

/// Any thread. Nearly always there are no queues; then a sender only looks at a word that no thread writes.
class source_queues {
 public:
  /// The actions after a change, in that order.
  struct outcome {
    message_list send;
    std::optional<std::uint32_t> ask;  ///< ask the object to clear messages up to there
  };

  /// A hint: a sender that misses a new queue sends at once, which is also correct.
  [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

  /// Puts `m` into the queue of the object; `begin`: makes a queue when there is none. Calls kept(message&) for a
  /// message that stays. False: there is no queue, and `m` stays with the caller. `numbers`: the counter of the next
  /// number.
  template <class Kept>
  [[nodiscard]] bool put(object_id id, message_ptr& m, bool begin, const std::atomic<std::uint32_t>& numbers,
                         const Kept& kept, outcome& next) {
    shard& part = of(id);
    const std::scoped_lock lock(part.mutex);
    auto match = part.queues.find(id);
    if (match == part.queues.end()) {
      if (!begin) return false;
      match = part.queues.try_emplace(id).first;
      count_.fetch_add(1, std::memory_order_relaxed);  // a hint
    }
    if (match->second.is_cleared(m->header.sequence)) {
      next.send.push_back(std::move(m));
    } else {
      kept(*m);
      match->second.put(std::move(m));
    }
    // Every message here has been numbered, so the counter is behind all of them.
    next.ask = match->second.ask(numbers.load(std::memory_order_relaxed));
    return true;
  }

  /// Clears messages before `limit`, as the object grants. True: no message waits here for it any more.
  [[nodiscard]] bool clear(object_id id, std::uint32_t limit, const std::atomic<std::uint32_t>& numbers,
                           outcome& next) {
    shard& part = of(id);
    const std::scoped_lock lock(part.mutex);
    const auto match = part.queues.find(id);
    if (match == part.queues.end()) return true;
    source_queue& queue = match->second;
    queue.clear(limit);
    while (message_ptr m = queue.take()) next.send.push_back(std::move(m));
    next.ask = queue.ask(numbers.load(std::memory_order_relaxed));  // behind all messages here
    if (!queue.over()) return false;
    remove(part, match);
    return true;
  }

  /// Takes all messages that wait for an object that is gone.
  [[nodiscard]] message_list drop(object_id id) {
    shard& part = of(id);
    const std::scoped_lock lock(part.mutex);
    const auto match = part.queues.find(id);
    if (match == part.queues.end()) return {};
    message_list all = match->second.take_all();
    remove(part, match);
    return all;
  }

  /// Calls visit(object, how many messages wait here for it), in no order, until it says false.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const shard& part : shards_) {
      const std::scoped_lock lock(part.mutex);
      for (const auto& [id, queue] : part.queues) {
        if (!visit(id, queue.size())) return;
      }
    }
  }

 private:
  using table = std::unordered_map<object_id, source_queue>;
  struct alignas(cache_line_bytes) shard {
    mutable std::mutex mutex;
    table queues;
  };
  [[nodiscard]] shard& of(object_id id) noexcept { return shards_[std::hash<object_id>()(id) % shards_.size()]; }
  void remove(shard& part, table::iterator position) {
    part.queues.erase(position);
    count_.fetch_sub(1, std::memory_order_relaxed);  // a hint
  }

  std::array<shard, 16> shards_;
  alignas(cache_line_bytes) std::atomic<std::size_t> count_{0};
};

}  // namespace nacre
