// SPDX-License-Identifier: Apache-2.0
// Waiting for many results at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/future.hpp>

namespace nacre {

namespace detail {

template <class T>
struct joined {
  using type = std::vector<T>;
};
template <>
struct joined<void> {
  using type = void;
};

/// The state of a future for many futures. It keeps itself alive until each of them has notified its waiter.
template <class T>
class join_state final : public future_value<typename joined<T>::type> {
 public:
  explicit join_state(std::vector<future<T>> parts)
      : parts_(std::move(parts)), waiters_(parts_.size()), left_(parts_.size() + 1) {}

  void begin() {
    this->acquire();
    for (std::size_t index = 0; index < waiters_.size(); ++index) {
      waiters_[index].notify = &on_part;
      waiters_[index].all = this;
      if (!parts_[index].state()->await(waiters_[index])) arrived(nullptr);
    }
    arrived(nullptr);
  }

 private:
  struct part_waiter : waiter {
    join_state* all = nullptr;
  };
  static void on_part(waiter& self, thread_context& by) { static_cast<part_waiter&>(self).all->arrived(&by); }

  void arrived(thread_context* by) {
    // acq_rel: the last one sees all values that the others have published by their decrements.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    collect();
    if (by != nullptr) {
      this->complete(*by);
    } else {
      this->complete_unawaited();
    }
    this->release();
  }

  void collect() {
    const std::scoped_lock lock(mutex_);
    try {
      if constexpr (std::is_void_v<T>) {
        for (future<T>& each : parts_) each.take();
      } else {
        std::vector<T> values;
        values.reserve(parts_.size());
        for (future<T>& each : parts_) values.push_back(each.take());
        this->set_value(std::move(values));
      }
    } catch (const call_error& error) {
      this->set_error(error);
    }
    parts_.clear();
  }
  void on_abandon() noexcept override {
    const std::scoped_lock lock(mutex_);
    parts_.clear();
  }

  std::mutex mutex_;
  std::vector<future<T>> parts_;  // under mutex_ once the first may have arrived
  std::vector<part_waiter> waiters_;
  std::atomic<std::size_t> left_;  // and one for begin
};

}  // namespace detail

/// A future for all of `parts`, which it takes: the vector of their values in the same order, or void. It is ready when
/// every one is, and then fails with the error of the first in the vector that failed. Dropping it drops them.
///
///   std::vector<double> norms = co_await nacre::when_all(std::move(calls));     // in a handler
///   std::vector<double> norms = nacre::when_all(std::move(calls)).get();        // in main
///
/// Throws usage_error when one of them is a future without a call.
template <class T>
[[nodiscard]] future<typename detail::joined<T>::type> when_all(std::vector<future<T>> parts) {
  engine* core = nullptr;
  thread_context* thread = nullptr;
  for (const future<T>& each : parts) {
    if (!each.valid())
      throw usage_error("when_all of a future that has no call (it was moved from, or never given one)");
    if (each.core() != nullptr) core = each.core();
    if (each.thread() != nullptr) thread = each.thread();
  }
  auto* state = new detail::join_state<T>(std::move(parts));
  using result = future<typename detail::joined<T>::type>;
  result all = core != nullptr ? result(*core, *thread, state) : result(state);
  state->begin();
  return all;
}

}  // namespace nacre
