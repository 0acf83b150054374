// SPDX-License-Identifier: Apache-2.0
// A reduction: the results of many, combined in a fixed order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <nacre/message.hpp>

#include "am/am_engine.hpp"
#include "am/pending_calls.hpp"

namespace nacre {

/// Collects one result from each of several givers, in any order, and combines them in the order of their slots. Like a
/// reply, a result is a message: a value, packed or not, or a failure. A failure without a text means that there is no
/// value. The first failure, by slot, is the failure of the whole.
class reduction {
 public:
  /// Gets the combined result, once, on the thread that has brought the last one.
  using end = std::function<void(message_ptr result, thread_context& thread)>;

  /// Combines the packed values `next` into `sum`, one after the other. Returns false when the bytes are no values. All
  /// in one call, so that the sum is packed once, however long it grows.
  using combine = std::function<bool(std::vector<std::byte>& sum, std::span<const std::span<const std::byte>> next,
                                     thread_context& thread)>;

  /// `fold`: null: values are dropped, and the result is empty.
  reduction(pending_calls& calls, std::size_t count, combine fold, end done)
      : calls_(calls), fold_(std::move(fold)), done_(std::move(done)), results_(count), left_(count + 1) {}

  /// Any thread; each slot once.
  void give(std::size_t slot, message_ptr result, thread_context& thread) {
    results_[slot] = std::move(result);
    count_down(thread);
  }
  /// Once, by the maker, when all givers have been asked; with no slots the reduction ends now.
  void count_down(thread_context& thread) {
    // acq_rel: the last thread sees all results.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) finish(thread);
  }

  /// Opens a call; its reply fills a slot. Returns its number.
  [[nodiscard]] static std::uint64_t expect(const std::shared_ptr<reduction>& target, std::size_t slot);

  [[nodiscard]] static message_ptr none() { return am_engine::make_failure({}, {}); }
  [[nodiscard]] static bool is_none(const message& result) noexcept {
    return (result.header.flags & flag_failed) != 0 && result.header.payload_bytes <= 1;
  }

 private:
  void finish(thread_context& thread);
  [[nodiscard]] message_ptr combined(thread_context& thread);

  pending_calls& calls_;
  combine fold_;
  end done_;
  std::vector<message_ptr> results_;
  std::atomic<std::size_t> left_;
};

}  // namespace nacre
