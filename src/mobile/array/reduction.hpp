// SPDX-License-Identifier: Apache-2.0
// A reduction: the results of many, combined in a fixed order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <nacre/handler.hpp>
#include <nacre/message.hpp>

#include "am/am_engine.hpp"

namespace nacre {

/// Collects one result from each of several givers, in any order, and combines them in the order of their slots. A
/// result is a message as replies are: a value (packed, or not), a failure, or a failure without a text, which means
/// that there is no value. The first failure, by slot, is the failure of the whole.
class reduction {
 public:
  /// Gets the combined result, once, on the thread that has brought the last one.
  using end = std::function<void(message_ptr result, thread_context& by)>;

  /// `fold`: combines two values; null: values are dropped, and the result is empty.
  reduction(am_engine& messages, std::size_t count, const detail::handler_info* fold, end done)
      : messages_(messages), fold_(fold), done_(std::move(done)), results_(count), left_(count + 1) {}

  /// Any thread; each slot once.
  void give(std::size_t slot, message_ptr result, thread_context& by) {
    results_[slot] = std::move(result);
    count_down(by);
  }
  /// Once, by the maker, when all givers have been asked; with no slots the reduction ends now.
  void count_down(thread_context& by) {
    // acq_rel: the last thread sees all results.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) finish(by);
  }

  /// Opens a call with its reply going into a slot. Returns its number.
  [[nodiscard]] static std::uint64_t expect(const std::shared_ptr<reduction>& to, std::size_t slot);

  [[nodiscard]] static message_ptr none() { return am_engine::make_failure({}, {}); }
  [[nodiscard]] static bool is_none(const message& result) noexcept {
    return (result.header.flags & flag_failed) != 0 && result.header.payload_bytes <= 1;
  }

 private:
  void finish(thread_context& by);
  [[nodiscard]] message_ptr combined(thread_context& by);

  am_engine& messages_;
  const detail::handler_info* fold_;
  end done_;
  std::vector<message_ptr> results_;
  std::atomic<std::size_t> left_;
};

}  // namespace nacre
