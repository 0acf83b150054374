// SPDX-License-Identifier: Apache-2.0
// News of objects for their homes, collected for a moment so that many travel in one message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <nacre/ids.hpp>
#include <nacre/location.hpp>

#include "base/cache_line.hpp"

namespace nacre {

/// One object's place, or its end. The rank that sends the news is the place.
struct object_news {
  std::uint64_t object = 0;
  std::uint32_t epoch = 0;  ///< in which the object came there
  std::uint8_t policy = 0;  ///< a location_policy
  std::uint8_t gone = 0;    ///< 1: the object has ended; epoch and policy say nothing

  template <class Archive>
  void serialize(Archive& ar) {
    ar(object, epoch, policy, gone);
  }
};

/// Collects news on busy ranks, where objects come and end in quick succession. Each thread context of the rank has a
/// collection for each other rank.
///
/// | collection | news | `count_max` pieces | flush |
/// |---|---|---|---|
/// | empty, nothing sent for `bound` | leaves at once | - | - |
/// | empty, else | collected | - | - |
/// | not empty | collected | all leave | all leave |
///
/// Invariant: news waits for at most about `bound`, or for one item of work where items are longer, because the poll
/// loop calls `flush_overdue` and a rank with an idle worker collects nothing. News may overtake older news of the same
/// object; the receiver compares epochs, and ignores news of an object that has ended.
///
/// Threads: `tell` by the context's own thread; `flush_overdue` by the poll loop; the others by any.
class bulk_news {
 public:
  using batch = std::vector<object_news>;
  using sender = std::function<void(rank_id target, batch news)>;

  static constexpr std::size_t count_max = 64;

  /// `bound`: in ticks of the clock that gives the instants below.
  bulk_news(std::size_t contexts, std::uint64_t bound);

  /// True: the caller must wake the poll loop, because this is the first news that waits in the context.
  [[nodiscard]] bool tell(std::size_t context, rank_id target, const object_news& news, std::uint64_t now,
                          const sender& send);
  /// Sends the news that has waited for `bound`, or all news if `all`. Returns the instant at which to call again; 0:
  /// no news waits.
  std::uint64_t flush_overdue(std::uint64_t now, bool all, const sender& send);
  /// Sends the news that waits for one rank. Any thread.
  void flush_to(rank_id target, std::uint64_t now, const sender& send);
  [[nodiscard]] bool empty() const noexcept { return waiting_.load(std::memory_order_acquire) == 0; }  // see waiting_

 private:
  struct collection {
    batch news;
    std::uint64_t sent_at = 0;
    bool ever = false;    // whether anything has been sent
    bool listed = false;  // in open
  };
  struct alignas(cache_line_bytes) context_news {
    std::mutex guard;  // guards the members below; held for moments
    std::unordered_map<rank_id, collection> of_rank;
    std::vector<rank_id> open;  // ranks with collected news since the last flush
    std::uint64_t since = 0;    // instant of the first of these news
  };

  std::uint64_t bound_;
  std::vector<std::unique_ptr<context_news>> contexts_;
  // Contexts with open collections. Changed under a context's guard, by release, which pairs with `empty`.
  std::atomic<std::size_t> waiting_{0};
  std::uint64_t polled_at_ = 0;  // written by the poll loop
};

}  // namespace nacre
