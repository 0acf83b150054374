// SPDX-License-Identifier: Apache-2.0
// Messages to ranks.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
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

  /// Whether the program has been asked to stop, by a signal to any of its ranks, since main has called handle_signals.
  [[nodiscard]] bool stop_requested() const noexcept { return detail::stop_requested(*core_); }

  /// Runs F on the rank `to`. One-way; messages between two ranks on one channel stay in order.
  template <auto F, class... Args>
  void send(rank_id to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void send(with how, rank_id to, Args&&... args) {
    detail::refuse_deadline(how);
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
    detail::refuse_deadline(how);
    message_ptr m = detail::make_typed<F>(std::forward<Args>(args)...);
    detail::stamp<F>(*m, how);
    detail::post_to_all(*core_, *thread_, std::move(m));
  }
  /// Runs F on the rank `to`, as send, but the message waits in this rank's communication component until the policy
  /// lets it use the link to that rank, so that senders do not overrun it together; docs/incast.md says when that
  /// helps.
  /// For long messages: those of at most --nacre.flow_small, those to this rank, and those between ranks of one process
  /// leave at once. The others of one thread to one rank under one policy stay in order; short ones, and those of other
  /// policies or channels, may overtake them. The rank counts what waits as it counts what send keeps, and quiescence
  /// waits for it. Throws usage_error for a policy, or a rank, that does not exist.
  template <auto F, class... Args>
  void send_with_flow_control(rank_id to, flow_policy policy, Args&&... args) {
    send_with_flow_control<F>(with{}, to, policy, std::forward<Args>(args)...);
  }
  template <auto F, class... Args>
  void send_with_flow_control(with how, rank_id to, flow_policy policy, Args&&... args) {
    detail::refuse_deadline(how);
    message_ptr m = detail::make_typed<F>(std::forward<Args>(args)...);
    detail::stamp<F>(*m, how);
    detail::post_with_flow_control(*core_, *thread_, to, policy, std::move(m));
  }
  /// Does not compile: a number is not a rank_id. The compiler's message says so in one sentence.
  template <auto F, std::integral Number, class... Args>
  void send_with_flow_control(Number, flow_policy, Args&&...) {
    static_assert(!std::is_same_v<Number, Number>,
                  "a rank is a nacre::rank_id: write send_with_flow_control<f>(nacre::rank_id{1}, policy, ...)");
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
    make_call(how, result, [&] { detail::post_to_rank(*core_, *thread_, to, std::move(m), result.state()); });
    return result;
  }
  template <auto F, std::integral Number, class... Args>
  future<detail::result_of<F>> call(Number, Args&&...) {
    static_assert(!std::is_same_v<Number, Number>, "a rank is a nacre::rank_id: write call<f>(nacre::rank_id{1}, ...)");
    return {};
  }

  /// A future that is ready after so many seconds, virtual ones under simulation, at the latest a fraction of a
  /// millisecond late on a rank whose workers run no long items. A handler waits by `co_await ctx.sleep(0.01)`, a main
  /// by `rt.sleep(0.01).wait()`; neither keeps a worker. The job is not quiescent before the sleep has ended. Dropping
  /// the future ends the sleep. Throws usage_error when the number is none.
  [[nodiscard]] future<void> sleep(double seconds) {
    return future<void>(*core_, *thread_, detail::start_sleep(*thread_, seconds));
  }
  /// Runs F on this rank after so many seconds, virtual ones under simulation. As send, but later: the job is not
  /// quiescent, and does not end, before F has run. The result can take the message back.
  template <auto F, class... Args>
  requires std::is_void_v<typename detail::traits<F>::target> delayed_message after(double seconds, Args&&... args) {
    return delayed_message(
        *detail::post_after(*core_, *thread_, seconds, {}, detail::make_typed<F>(std::forward<Args>(args)...)));
  }
  /// Runs a lambda without captures on the rank `to`, or on every rank. Its parameters are those of a named handler:
  ///
  ///     rt.send(nacre::rank_id{1}, [](nacre::context& ctx, std::string who) { ... }, "world");
  template <class L, class... Args>
  void send(rank_id to, L, Args&&... args) {
    send<detail::rank_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class L, class... Args>
  void send(with how, rank_id to, L, Args&&... args) {
    send<detail::rank_lambda<L>>(how, to, std::forward<Args>(args)...);
  }
  template <class L, class... Args>
  void send(to_all_t, L, Args&&... args) {
    send<detail::rank_lambda<L>>(with{}, to_all, std::forward<Args>(args)...);
  }
  template <class L, class... Args>
  void send(with how, to_all_t, L, Args&&... args) {
    send<detail::rank_lambda<L>>(how, to_all, std::forward<Args>(args)...);
  }
  template <class L, class... Args>
  void send_with_flow_control(rank_id to, flow_policy policy, L, Args&&... args) {
    send_with_flow_control<detail::rank_lambda<L>>(with{}, to, policy, std::forward<Args>(args)...);
  }
  template <class L, class... Args>
  void send_with_flow_control(with how, rank_id to, flow_policy policy, L, Args&&... args) {
    send_with_flow_control<detail::rank_lambda<L>>(how, to, policy, std::forward<Args>(args)...);
  }
  template <std::integral Number, class L, class... Args>
  void send_with_flow_control(Number, flow_policy, L, Args&&...) {
    static_assert(!std::is_same_v<Number, Number>,
                  "a rank is a nacre::rank_id: write send_with_flow_control(nacre::rank_id{1}, policy, ...)");
  }
  template <std::integral Number, class L, class... Args>
  void send(Number, L, Args&&...) {
    static_assert(!std::is_same_v<Number, Number>, "a rank is a nacre::rank_id: write send(nacre::rank_id{1}, ...)");
  }
  /// Runs a lambda without captures on the rank `to` and returns a future of its result, as call<F> does. The types are
  /// not written: clang 16 would make them of the arguments of other calls, too.
  template <class L, class... Args>
  [[nodiscard]] auto call(rank_id to, L, Args&&... args) {
    return call<detail::rank_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class L, class... Args>
  [[nodiscard]] auto call(with how, rank_id to, L, Args&&... args) {
    return call<detail::rank_lambda<L>>(how, to, std::forward<Args>(args)...);
  }
  template <std::integral Number, class L, class... Args>
  auto call(Number, L, Args&&...) {
    static_assert(!std::is_same_v<Number, Number>, "a rank is a nacre::rank_id: write call(nacre::rank_id{1}, ...)");
    return future<detail::result_of<detail::rank_lambda<L>>>();
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

  /// Posts a call by `post`, with its deadline.
  template <class R, class Post>
  void make_call(const with& how, const future<R>& result, Post&& post) {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (how.deadline != never) detail::check_seconds(how.deadline, "a deadline");
    post();
    if (how.deadline != never) detail::limit_call(*thread_, *result.state(), how.deadline);
  }

  engine* core_;
  thread_context* thread_;
  object_id acting_;
};

}  // namespace nacre
