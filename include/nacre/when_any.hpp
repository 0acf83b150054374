// SPDX-License-Identifier: Apache-2.0
// Waiting for the first of several results.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/future.hpp>
#include <nacre/when_all.hpp>

namespace nacre {

namespace detail {

/// A future that when_any was given by value, of any type.
class kept_future {
 public:
  virtual ~kept_future() = default;
  /// Gives its reference to the caller.
  [[nodiscard]] virtual future_state* release_state() noexcept = 0;
};
template <class T>
class kept_future_of final : public kept_future {
 public:
  explicit kept_future_of(future<T> kept) noexcept : kept_(std::move(kept)) {}
  [[nodiscard]] future_state* release_state() noexcept override { return kept_.release_state(); }

 private:
  future<T> kept_;
};

/// The futures of one when_any.
struct any_of {
  engine* core = nullptr;
  thread_context* thread = nullptr;
  std::vector<future_state*> states;
  std::vector<std::unique_ptr<kept_future>> kept;

  /// `is_own`: whether to keep the future itself.
  template <class T>
  void add(future<T>& one, bool is_own) {
    if (!one.valid())
      throw usage_error(
          "when_any of a future that has no call (it was moved from, gave its value to get(), or never had one)");
    one.state()->expect_no_waiter();
    if (one.core() != nullptr) core = one.core();
    if (one.thread() != nullptr) thread = one.thread();
    states.push_back(one.state());
    if (is_own) kept.push_back(std::make_unique<kept_future_of<T>>(std::move(one)));
  }
};
/// The state of the future for the index of the first that is ready.
[[nodiscard]] future_value<std::size_t>* first_of(any_of all);
[[nodiscard]] inline future<std::size_t> future_of_first(any_of all) {
  if (all.states.empty()) throw usage_error("when_any of no futures would wait for ever");
  engine* const core = all.core;
  thread_context* const thread = all.thread;
  auto* const state = first_of(std::move(all));
  return core != nullptr ? future<std::size_t>(*core, *thread, state) : future<std::size_t>(state);
}

}  // namespace detail

/// A future for the index of the first of some futures, of any types, that is ready: with a value or an error. When
/// several are ready already it is the lowest. It takes no results: the futures that are named stay as they are, so the
/// program takes the one that is ready, and may wait for the others afterwards.
///
///   auto f = ctx.call<&cell::norm>(p);
///   if (co_await nacre::when_any(f, ctx.sleep(0.5)) == 0) use(co_await f);     // in a handler
///   std::size_t which = nacre::when_any(f, g).get();                                      // in main
///
/// Until the index is there, the futures that are named must live, and nothing else may wait for them (it would throw
/// usage_error). To stop waiting earlier, drop the future for the index. A future that is not named, such as that of
/// ctx.sleep above, is dropped with it. Throws usage_error when one of them is a future without a call.
template <class... Futures>
requires(sizeof...(Futures) != 0 && (detail::is_future<std::remove_cvref_t<Futures>> && ...))
    [[nodiscard]] future<std::size_t> when_any(Futures&&... futures) {
  detail::any_of all;
  (all.add(futures, !std::is_lvalue_reference_v<Futures>), ...);
  return detail::future_of_first(std::move(all));
}
/// The index is that of the vector. Throws usage_error when the vector is empty.
template <class T>
[[nodiscard]] future<std::size_t> when_any(std::vector<future<T>>& futures) {
  detail::any_of all;
  for (future<T>& each : futures) all.add(each, false);
  return detail::future_of_first(std::move(all));
}

}  // namespace nacre
