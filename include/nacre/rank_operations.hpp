// SPDX-License-Identifier: Apache-2.0
// Messages to ranks.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <nacre/core.hpp>
#include <nacre/future.hpp>
#include <nacre/handler.hpp>
#include <nacre/ids.hpp>

namespace nacre {

/// The identity of this rank, and messages to ranks. A base class of `operations`.
class rank_operations {
 public:
  [[nodiscard]] rank_id rank() const noexcept { return detail::rank_of(*core_); }
  [[nodiscard]] std::uint32_t size() const noexcept { return detail::size_of(*core_); }
  /// The number of workers of this rank.
  [[nodiscard]] std::uint32_t workers() const noexcept { return detail::workers_of(*core_); }
  /// Seconds since the job's start; virtual ones under simulation, where a main that looks again at the same instant
  /// lets a little time go on.
  [[nodiscard]] double now() const { return detail::seconds_of(*core_, *thread_); }

  /// Runs F on the rank `to`. One-way; messages between two ranks on one channel stay in order.
  template <auto F, class... Args>
  void send(rank_id to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void send(with how, rank_id to, Args&&... args) {
    message_ptr m = detail::make_typed<F>(std::forward<Args>(args)...);
    detail::stamp<F>(*m, how);
    detail::post_to_rank(*core_, *thread_, to, std::move(m));
  }
  /// Runs F on every rank, this one included.
  template <auto F, class... Args>
  void send(to_all_t, Args&&... args) {
    send<F>(with{}, to_all, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void send(with how, to_all_t, Args&&... args) {
    message_ptr m = detail::make_typed<F>(std::forward<Args>(args)...);
    detail::stamp<F>(*m, how);
    detail::post_to_all(*core_, *thread_, std::move(m));
  }
  /// Does not compile: a number is not a rank_id. The compiler's message says so in one sentence.
  template <auto F, std::integral Number, class... Args>
  void send(Number, Args&&...) {
    static_assert(!std::is_same_v<Number, Number>, "a rank is a nacre::rank_id: write send<f>(nacre::rank_id{1}, ...)");
  }
  /// Runs F on the rank `to` and returns a future of its result, which fails with call_error when F throws.
  template <auto F, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(rank_id to, Args&&... args) {
    return call<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(with how, rank_id to, Args&&... args) {
    message_ptr m = detail::make_typed<F>(std::forward<Args>(args)...);
    detail::stamp<F>(*m, how);
    auto result = pending<detail::result_of<F>>();
    detail::post_to_rank(*core_, *thread_, to, std::move(m), result.state());
    return result;
  }
  template <auto F, std::integral Number, class... Args>
  future<detail::result_of<F>> call(Number, Args&&...) {
    static_assert(!std::is_same_v<Number, Number>, "a rank is a nacre::rank_id: write call<f>(nacre::rank_id{1}, ...)");
    return {};
  }

 protected:
  /// `acting` is the object that the handler runs on; it is not valid() for a main, and for handlers on ranks.
  rank_operations(engine& core, thread_context& on, object_id acting = {}) noexcept
      : core_(&core), thread_(&on), acting_(acting) {}
  ~rank_operations() = default;

  /// The future of a call that has not been made yet.
  template <class R>
  future<R> pending() {
    return future<R>(*core_, *thread_, new detail::future_value<R>);
  }

  engine* core_;
  thread_context* thread_;
  object_id acting_;
};

}  // namespace nacre
