// SPDX-License-Identifier: Apache-2.0
// Messages: send, call, reduce and after, one of each for all targets and all handlers.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <nacre/core.hpp>
#include <nacre/future.hpp>
#include <nacre/handler.hpp>
#include <nacre/ids.hpp>
#include <nacre/target.hpp>
#include <nacre/unreliable.hpp>

namespace nacre {

/// The identity of this rank, and messages. The base class of `operations`.
///
/// A message runs a handler on a target, with arguments: `send` and no more; `call` gives a future of the result;
/// `reduce` combines the results of several handlers; `after` sends later. The handler is a function or a member
/// function, also a coroutine, that stands before the parentheses, or a lambda without captures behind the target. The
/// targets and their handlers:
///
/// | target | handler |
/// |---|---|
/// | rank_id; to_all: every rank | a function, [](context&, int n) {} |
/// | mobile_ptr; an element, grid[place] or words[key] | a member, [](cell& c, context&, int n) {} |
/// | array_ptr, keyed_array_ptr: every element; section | the same |
/// | g[rank]; group_ptr: the objects of all ranks | the same |
///
/// Options stand in front, in all forms:
///     rt.send<&cell::step>(nacre::with{.channel = nacre::channel::bulk}, grid, 5);
///     rt.call(nacre::with{.deadline = 0.1}, nacre::rank_id{1}, [](int n) { return n + 1; }, 1);
///
/// Unreliable messages. `rt.send<f>(nacre::with{.reliable = false}, rank, ...)` to a rank or to all ranks costs no
/// acknowledgement, and nobody waits for it: it may be lost by the network, or dropped where there is no room for it,
/// comes at most once and unchanged, and in no order. Quiescence and the end of the job do not wait for one that is
/// under way; the work of one that has come counts as any other. At most unreliable_bytes_max long; over a transport of
/// datagrams a span, or what `gather` makes, that is the last argument leaves from the caller's memory without a copy.
///
/// Objects. Const member functions, and lambdas that take the object as const cell&, may run beside other such; others
/// run alone. Messages from one handler or main to one object or one key run in the order sent. The first message that
/// a rank sends to a key asks the key's home; later ones wait on the rank meanwhile.
///
/// Ranks. The messages from one handler or main on one channel to one rank are handed to its workers in the order sent.
/// They run in that order only if the rank has one worker; the scheduler `lifo` gives that up, and so does a rank that
/// has more than receive_memory from handlers of its own process. Where order matters, send to an object.
///
/// Arrays. Each element that exists when a request is due at its place runs the handler once, wherever it is.
/// Requests to one array are done in one order, the same for all elements; those of one main or handler keep the order
/// in which it made them. Between these requests and messages to single elements, and messages to sections, there is no
/// order, except the order that waiting for futures makes. A section passes over places without an element.
///
/// Groups. Handlers on a rank's object run at the same time, const or not, and beside main's use of it by local(): the
/// class guards its members itself. Order is that of messages between ranks. A message to a group that has ended is a
/// usage_error of its handler: the caller gets it, and for a send it ends the job.
class message_operations {
  using overloaded = detail::several_functions_have_this_name_so_use_a_lambda_that_calls_one;

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

  /// This rank's object of a group. Wait-free. Throws usage_error when the group has ended, or when `group` names none.
  template <class T>
  [[nodiscard]] T& local(group_ptr<T> group) const {
    return *static_cast<T*>(detail::local_member(*core_, group.number(), detail::group_type_of<T>));
  }

  /// Runs the handler F on a target. One-way, asynchronous. A deadline among the options throws usage_error, and so
  /// does .reliable = false for a target other than ranks, or with longer arguments than unreliable_bytes_max.
  template <auto F, class Target = rank_id, class... Args>
  requires(!detail::is_options<Target>) void send(const Target& target, Args&&... arguments) {
    send<F>(with{}, target, std::forward<Args>(arguments)...);
  }
  template <auto F, class Target = rank_id, class... Args>
  void send(with options, const Target& target, Args&&... arguments) {
    if constexpr (detail::is_target<Target>) {
      detail::refuse_deadline(options);
      const auto address = detail::address_of(target);
      if (!options.reliable) [[unlikely]]
        return detail::send_unreliable<F>(address, caller(), options, std::forward<Args>(arguments)...);
      address.post(*this, caller(), detail::message_to<F>(address, options, std::forward<Args>(arguments)...), {});
    } else {
      detail::refuse_send<Target, F>();
    }
  }
  /// Runs a lambda without captures.
  template <class Target = rank_id, class L, class... Args>
  requires(!detail::is_options<Target>) void send(const Target& target, L lambda, Args&&... arguments) {
    send(with{}, target, std::move(lambda), std::forward<Args>(arguments)...);
  }
  template <class Target = rank_id, class L, class... Args>
  void send(with options, const Target& target, L, Args&&... arguments) {
    static_assert(!std::integral<Target>, "a rank is a nacre::rank_id: write send(nacre::rank_id{1}, ...)");
    if constexpr (!std::integral<Target>) {
      send<detail::lambda_for<Target, L>>(options, target, std::forward<Args>(arguments)...);
    }
  }

  /// Runs F as send does, and returns a future of its result, which fails with call_error when F throws and with
  /// timeout_error at the deadline of the options. Of a target with several handlers (to_all, an array, a section, a
  /// group) the results are dropped: the future is ready when all have run, and fails with call_error when one threw.
  template <auto F, class Target = rank_id, class... Args>
  requires(!detail::is_options<Target>)
      [[nodiscard]] future<detail::answer<Target, F>> call(const Target& target, Args&&... arguments) {
    return call<F>(with{}, target, std::forward<Args>(arguments)...);
  }
  template <auto F, class Target = rank_id, class... Args>
  [[nodiscard]] future<detail::answer<Target, F>> call(with options, const Target& target, Args&&... arguments) {
    if constexpr (detail::is_tree_target<Target>) {
      return ask_tree<F, void>(detail::address_of(target), options, std::forward<Args>(arguments)...);
    } else if constexpr (detail::is_target<Target>) {
      return ask<F, detail::answer<Target, F>>(detail::address_of(target), options, 0,
                                               std::forward<Args>(arguments)...);
    } else {
      detail::refuse_call<Target, F>();
      return {};
    }
  }
  /// The types are not written: clang 16 would make them of the arguments of other calls, too.
  template <class Target = rank_id, class L, class... Args>
  requires(!detail::is_options<Target>) [[nodiscard]] auto call(const Target& target, L lambda, Args&&... arguments) {
    return call(with{}, target, std::move(lambda), std::forward<Args>(arguments)...);
  }
  template <class Target = rank_id, class L, class... Args>
  [[nodiscard]] auto call(with options, const Target& target, L, Args&&... arguments) {
    static_assert(!std::integral<Target>, "a rank is a nacre::rank_id: write call(nacre::rank_id{1}, ...)");
    if constexpr (std::integral<Target>) {
      return future<detail::result_of<detail::rank_lambda<L>>>();
    } else {
      return call<detail::lambda_for<Target, L>>(options, target, std::forward<Args>(arguments)...);
    }
  }

  /// Runs F on every element of an array or a section, every object of a group, or every rank, and combines the
  /// results: op(op(r0, r1), ...), each counted once. They are combined in the order of the ranks; of an array with the
  /// placement by_block in the order of the places; with another placement, in that order on each rank, rank by rank;
  /// of a section in the order of section::places. The grouping is always the same for the same elements, so sums of
  /// floating-point numbers are the same in every run. Op must be associative. It runs on every rank, so it has no
  /// members or captures. The future fails with call_error when there is no element, or when F or Op threw. The steps
  /// grow with the logarithm of the number of ranks.
  template <auto F, class Target, class Op, class... Args>
  requires(!detail::is_options<Target>)
      [[nodiscard]] future<detail::result_of<F>> reduce(const Target& target, Op op, Args&&... arguments) {
    return reduce<F>(with{}, target, std::move(op), std::forward<Args>(arguments)...);
  }
  template <auto F, class Target, class Op, class... Args>
  [[nodiscard]] future<detail::result_of<F>> reduce(with options, const Target& target, Op, Args&&... arguments) {
    detail::check_reduction<Target, F, Op>();
    if constexpr (detail::is_tree_target<Target>) {
      return ask_tree<F, Op>(detail::address_of(target), options, std::forward<Args>(arguments)...);
    } else if constexpr (detail::is_several<Target>) {
      return ask<F, detail::result_of<F>>(detail::address_of(target), options,
                                          detail::fold_of<std::decay_t<detail::result_of<F>>, Op>(),
                                          std::forward<Args>(arguments)...);
    } else {
      return {};
    }
  }
  template <class Target, class L, class Op, class... Args>
  requires detail::is_lambda_reduction<Target>
  [[nodiscard]] auto reduce(const Target& target, L, Op op, Args&&... arguments) {
    return reduce<detail::lambda_for<Target, L>>(with{}, target, std::move(op), std::forward<Args>(arguments)...);
  }
  template <class Target, class L, class Op, class... Args>
  requires detail::is_lambda_reduction<Target>
  [[nodiscard]] auto reduce(with options, const Target& target, L, Op op, Args&&... arguments) {
    return reduce<detail::lambda_for<Target, L>>(options, target, std::move(op), std::forward<Args>(arguments)...);
  }

  /// Sends later, after so many seconds, virtual ones under simulation. The job is not quiescent, and does not end,
  /// before the handler has run. The result can take the message back. A function or a lambda without a target runs on
  /// this rank, after<f>(0.1, 5); a target stands in front of the arguments as for send: after<&cell::step>(0.1, p, 5).
  /// The message takes its place behind those that this rank has sent to the target by then; what is wrong with the
  /// target, such as a rank that does not exist, then ends the job.
  template <auto F, class... Args>
  delayed_message after(double seconds, Args&&... arguments) {
    return after<F>(with{}, seconds, std::forward<Args>(arguments)...);
  }
  template <auto F, class... Args>
  delayed_message after(with options, double seconds, Args&&... arguments) {
    if constexpr (detail::has_target_first<F, Args...>)
      return send_later<F>(options, seconds, std::forward<Args>(arguments)...);
    else
      return send_later<F>(options, seconds, detail::this_rank{}, std::forward<Args>(arguments)...);
  }
  template <class First, class... Rest>
  delayed_message after(double seconds, First&& first, Rest&&... rest) {
    return after(with{}, seconds, std::forward<First>(first), std::forward<Rest>(rest)...);
  }
  /// `first`: the target, or the lambda, which runs on this rank then.
  template <class First, class... Rest>
  delayed_message after(with options, double seconds, First&& first, Rest&&... rest) {
    if constexpr (detail::is_target<std::remove_cvref_t<First>>) {
      return [&]<class L, class... Args>(L, Args&&... arguments) {
        constexpr auto handler = detail::lambda_for<std::remove_cvref_t<First>, L>;
        return send_later<handler>(options, seconds, first, std::forward<Args>(arguments)...);
      }(std::forward<Rest>(rest)...);
    } else {
      return send_later<detail::rank_lambda<std::decay_t<First>>>(options, seconds, detail::this_rank{},
                                                                  std::forward<Rest>(rest)...);
    }
  }
  /// A future that is ready after so many seconds, virtual ones under simulation, at the latest a fraction of a
  /// millisecond late on a rank whose workers run no long items. A handler waits by `co_await ctx.sleep(0.01)`, a main
  /// by `rt.sleep(0.01).wait()`; neither keeps a worker. The job is not quiescent before the sleep has ended. Dropping
  /// the future ends the sleep. Throws usage_error when the number is none.
  [[nodiscard]] future<void> sleep(double seconds) {
    return future<void>(*core_, *thread_, detail::start_sleep(*thread_, seconds));
  }

  /// Runs F on a rank, as send, but the message waits in this rank's communication component until the policy lets it
  /// use the link to that rank, so that senders do not overrun it together; docs/incast.md says when that helps.
  /// For long messages: those of at most --nacre.flow_small, those to this rank, and those between ranks of one process
  /// leave at once. The others of one thread to one rank under one policy stay in order; short ones, and those of other
  /// policies or channels, may overtake them. The rank counts what waits as it counts what send keeps, and quiescence
  /// waits for it. Throws usage_error for a policy, or a rank, that does not exist.
  template <auto F, class Target = rank_id, class... Args>
  requires(!detail::is_options<Target>) void send_with_flow_control(const Target& target, flow_policy policy,
                                                                    Args&&... arguments) {
    static_assert(!std::integral<Target>,
                  "a rank is a nacre::rank_id: write send_with_flow_control<f>(nacre::rank_id{1}, policy, ...)");
    if constexpr (!std::integral<Target>)
      send_with_flow_control<F>(with{}, target, policy, std::forward<Args>(arguments)...);
  }
  template <auto F, class... Args>
  void send_with_flow_control(with options, rank_id target, flow_policy policy, Args&&... arguments) {
    detail::refuse_deadline(options);
    detail::expect_reliable(options, "a message under flow control");
    detail::post_with_flow_control(*core_, *thread_, target, policy,
                                   detail::rank_message<F>(options, std::forward<Args>(arguments)...));
  }
  template <class Target = rank_id, class L, class... Args>
  requires(!detail::is_options<Target>) void send_with_flow_control(const Target& target, flow_policy policy, L,
                                                                    Args&&... arguments) {
    static_assert(!std::integral<Target>,
                  "a rank is a nacre::rank_id: write send_with_flow_control(nacre::rank_id{1}, policy, ...)");
    if constexpr (!std::integral<Target>)
      send_with_flow_control<detail::rank_lambda<L>>(with{}, target, policy, std::forward<Args>(arguments)...);
  }
  template <class L, class... Args>
  void send_with_flow_control(with options, rank_id target, flow_policy policy, L, Args&&... arguments) {
    send_with_flow_control<detail::rank_lambda<L>>(options, target, policy, std::forward<Args>(arguments)...);
  }

  /// Do not compile: the name of several functions is no handler. The compiler's list of candidates says so.
  template <overloaded F, class... Args>
  void send(Args&&... use_a_lambda_that_calls_one);
  template <overloaded F, class... Args>
  void call(Args&&... use_a_lambda_that_calls_one);
  template <overloaded F, class... Args>
  void reduce(Args&&... use_a_lambda_that_calls_one);
  template <overloaded F, class... Args>
  void after(Args&&... use_a_lambda_that_calls_one);

 protected:
  /// `acting` is the object that the handler runs on; it is not valid() for a main, and for handlers on ranks.
  message_operations(engine& core, thread_context& thread, object_id acting = {}) noexcept
      : core_(&core), thread_(&thread), acting_(acting) {}
  ~message_operations() = default;

  /// The future of a call that has not been made yet.
  template <class R>
  future<R> pending() {
    return future<R>(*core_, *thread_, new detail::future_value<R>);
  }
  [[nodiscard]] detail::message_caller caller() const noexcept { return {*core_, *thread_, acting_}; }

  engine* core_;
  thread_context* thread_;
  object_id acting_;

 private:
  /// Posts a call with its deadline.
  template <auto F, class R, class Address, class... Args>
  future<R> ask(const Address& address, const with& options, std::uint32_t fold, Args&&... arguments) {
    constexpr double never = with{}.deadline;
    detail::expect_reliable(options, "a call");
    message_ptr m = detail::message_to<F>(address, options, std::forward<Args>(arguments)...);
    auto result = pending<R>();
    if (options.deadline != never) detail::check_seconds(options.deadline, "a deadline");
    address.post(*this, caller(), std::move(m), {result.state(), fold});
    if (options.deadline != never) detail::limit_call(*thread_, *result.state(), options.deadline);
    return result;
  }
  /// Asks all ranks, or the objects of a group, down a tree.
  template <auto F, class Op, class Address, class... Args>
  auto ask_tree(const Address& address, const with& options, Args&&... arguments) {
    detail::expect_reliable(options, "a call");
    if constexpr (requires { address.group(); }) {
      constexpr auto handler = detail::member_handler<F, typename Address::object>{};
      return ask_tree<handler, Op>(detail::all_ranks_address{}, options, address.group(),
                                   std::forward<Args>(arguments)...);
    } else {
      using tree = detail::rank_tree<F, Op, typename detail::traits<F>::values>;
      return call<&tree::run>(with{.channel = options.channel, .deadline = options.deadline}, rank_id{0},
                              detail::rank_range{0, size(), options.category, options.channel},
                              std::forward<Args>(arguments)...);
    }
  }

  template <auto F, class Target, class... Args>
  delayed_message send_later(const with& options, double seconds, const Target& target, Args&&... arguments) {
    using address = detail::address<Target>;
    detail::refuse_deadline(options);
    detail::expect_reliable(options, "a message that is sent later");
    if constexpr (std::is_same_v<Target, detail::this_rank>) {
      return later(seconds, {}, detail::rank_message<F>(options, std::forward<Args>(arguments)...));
    } else if constexpr (requires { address::id; }) {
      const address object = detail::address_of(target);
      return later(seconds, {acting_, object.id},
                   detail::message_to<F>(object, options, std::forward<Args>(arguments)...));
    } else if constexpr (detail::is_target<Target>) {
      using deferred = detail::deferred_send<F, typename address::named, typename detail::traits<F>::values>;
      return later(seconds, {},
                   detail::rank_message<&deferred::run>(with{}, options.category, options.channel, target,
                                                        std::forward<Args>(arguments)...));
    } else {
      detail::refuse_after<Target, F>();
      return {};
    }
  }
  delayed_message later(double seconds, const detail::object_pair& ends, message_ptr&& m) {
    return delayed_message(*detail::post_after(*core_, *thread_, seconds, ends, std::move(m)));
  }
};

}  // namespace nacre
