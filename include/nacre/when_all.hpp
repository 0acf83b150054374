// SPDX-License-Identifier: Apache-2.0
// Waiting for many results at once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nacre/future.hpp>

namespace nacre {

namespace detail {

template <class T>
inline constexpr bool is_future = false;
template <class T>
inline constexpr bool is_future<future<T>> = true;

template <class T>
struct joined {
  using type = std::vector<T>;
};
template <>
struct joined<void> {
  using type = void;
};

/// Completes a future for several when its last part has notified it; a member of its state. The future may itself be a
/// part of another one, to any depth: they are completed one after the other, by the outermost call of a thread.
class part_completion {
 public:
  explicit part_completion(future_state& owner) noexcept : state_(owner) {}
  part_completion(const part_completion&) = delete;
  part_completion& operator=(const part_completion&) = delete;

  /// Completes the state, and then gives back a reference to it. Once.
  void complete(thread_context& thread);

 private:
  future_state& state_;
  part_completion* next_ = nullptr;  // link of the states that wait to be completed
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
  static void on_part(waiter& self, thread_context& thread) { static_cast<part_waiter&>(self).all->arrived(&thread); }

  void arrived(thread_context* thread) {
    // acq_rel: the last one sees all values that the others have published by their decrements.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    collect();
    if (thread != nullptr) return completion_.complete(*thread);
    this->complete_unawaited();
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
    } catch (...) {
      this->set_error(this->error_of_result());
    }
    parts_.clear();
  }
  /// A part that is dropped may never notify its waiter, such as a sleep. So the waiters are taken back first.
  void on_abandon() noexcept override {
    std::size_t withdrawn = 0;
    std::vector<future<T>> dropped;
    {
      const std::scoped_lock lock(mutex_);
      for (const future<T>& each : parts_) withdrawn += each.state()->withdraw() ? 1U : 0U;
      dropped.swap(parts_);
    }
    for (future<T>& each : dropped) each.release_state()->abandon_part();
    for (; withdrawn != 0; --withdrawn) arrived(nullptr);
  }

  std::mutex mutex_;
  std::vector<future<T>> parts_;  // under mutex_ once the first may have arrived
  std::vector<part_waiter> waiters_;
  part_completion completion_{*this};
  std::atomic<std::size_t> left_;  // and one for begin
};

/// The value of a future among others: that of a future<void> is std::monostate.
template <class T>
using value_among_others = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// As join_state, for futures of different types.
template <class... Ts>
class tuple_state final : public future_value<std::tuple<value_among_others<Ts>...>> {
 public:
  explicit tuple_state(future<Ts>&&... parts) : parts_(std::move(parts)...) {}

  void begin() {
    this->acquire();
    std::apply([this](auto&... part) { (wait_for_part(*part.state()), ...); }, parts_);
    arrived(nullptr);
  }

 private:
  struct part_waiter : waiter {
    tuple_state* all = nullptr;
  };
  static void on_part(waiter& self, thread_context& thread) { static_cast<part_waiter&>(self).all->arrived(&thread); }

  void wait_for_part(future_state& part) {
    part_waiter& waiter = waiters_[registered_++];
    waiter.notify = &on_part;
    waiter.all = this;
    if (!part.await(waiter)) arrived(nullptr);
  }

  void arrived(thread_context* thread) {
    // acq_rel: the last one sees all values that the others have published by their decrements.
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    collect();
    if (thread != nullptr) return completion_.complete(*thread);
    this->complete_unawaited();
    this->release();
  }

  template <class T>
  static value_among_others<T> taken_from(future<T>& part) {
    if constexpr (std::is_void_v<T>) {
      part.take();
      return {};
    } else {
      return part.take();
    }
  }

  void collect() {
    const std::scoped_lock lock(mutex_);
    try {
      // In braces, so that they are taken from left to right.
      if (!dropped_) {
        this->set_value(std::apply(
            [](auto&... part) { return std::tuple<value_among_others<Ts>...>{taken_from(part)...}; }, parts_));
      }
    } catch (...) {
      this->set_error(this->error_of_result());
    }
    drop_parts();
  }
  /// As that of join_state.
  void on_abandon() noexcept override {
    std::size_t withdrawn = 0;
    std::array<future_state*, sizeof...(Ts)> dropped{};  // null: collected already
    {
      const std::scoped_lock lock(mutex_);
      dropped_ = true;
      std::size_t index = 0;
      std::apply([&](auto&... part) { ((dropped[index++] = part.release_state()), ...); }, parts_);
      for (future_state* const each : dropped) withdrawn += each != nullptr && each->withdraw() ? 1U : 0U;
    }
    for (future_state* const each : dropped) {
      if (each != nullptr) each->abandon_part();
    }
    for (; withdrawn != 0; --withdrawn) arrived(nullptr);
  }
  void drop_parts() noexcept {
    std::apply(
        [](auto&... part) { (static_cast<void>(std::remove_reference_t<decltype(part)>(std::move(part))), ...); },
        parts_);
  }

  std::mutex mutex_;
  std::tuple<future<Ts>...> parts_;  // under mutex_ once the first may have arrived
  bool dropped_ = false;             // under mutex_
  std::array<part_waiter, sizeof...(Ts)> waiters_{};
  std::size_t registered_ = 0;
  part_completion completion_{*this};
  std::atomic<std::size_t> left_{sizeof...(Ts) + 1};  // and one for begin
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
[[nodiscard]] future<typename detail::joined<T>::type> when_all(std::vector<future<T>>&& parts) {
  engine* core = nullptr;
  thread_context* thread = nullptr;
  for (const future<T>& each : parts) {
    if (!each.valid())
      throw usage_error(
          "when_all of a future that has no call (it was moved from, gave its value to get(), or never had one)");
    each.state()->expect_no_waiter();
    if (each.core() != nullptr) core = each.core();
    if (each.thread() != nullptr) thread = each.thread();
  }
  auto* state = new detail::join_state<T>(std::move(parts));
  using result = future<typename detail::joined<T>::type>;
  result all = core != nullptr ? result(*core, *thread, state) : result(state);
  state->begin();
  return all;
}

/// The future for all of a vector that is named, which is empty afterwards.
template <class T>
[[nodiscard]] future<typename detail::joined<T>::type> when_all(std::vector<future<T>>& parts) {
  return when_all(std::exchange(parts, {}));
}

/// A future for several of any types, which it takes: they are not valid() afterwards. Its value is the tuple of their
/// values in order, in which that of a future<void> is std::monostate. It is ready when every one is, and then fails
/// with the error of the first in order that failed. Dropping it drops them.
///
///   auto [norm, moved] = co_await nacre::when_all(f, g);     // in a handler; f is a future<double>, g a future<void>
///   auto [norm, moved] = nacre::when_all(f, g).get();        // in main
///
/// Throws usage_error, and takes none, when one of them is a future without a call, or is named twice.
template <class... Futures>
requires(sizeof...(Futures) != 0 && (detail::is_future<std::remove_cvref_t<Futures>> && ...))
    [[nodiscard]] auto when_all(Futures&&... parts) {
  engine* core = nullptr;
  thread_context* thread = nullptr;
  std::array<const detail::future_state*, sizeof...(Futures)> seen{};
  std::size_t count = 0;
  const auto look = [&](const auto& each) {
    if (!each.valid())
      throw usage_error(
          "when_all of a future that has no call (it was moved from, gave its value to get(), or never had one)");
    for (const detail::future_state* const other : seen) {
      if (other == each.state()) throw usage_error("when_all of one future twice: name each future once");
    }
    seen[count++] = each.state();
    each.state()->expect_no_waiter();
    if (each.core() != nullptr) core = each.core();
    if (each.thread() != nullptr) thread = each.thread();
  };
  (look(parts), ...);
  return [&]<class... Ts>(future<Ts>&&... taken) {
    using result = future<std::tuple<detail::value_among_others<Ts>...>>;
    auto* const state = new detail::tuple_state<Ts...>(std::move(taken)...);
    result all = core != nullptr ? result(*core, *thread, state) : result(state);
    state->begin();
    return all;
  }(std::move(parts)...);
}

}  // namespace nacre
