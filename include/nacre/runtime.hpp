// SPDX-License-Identifier: Apache-2.0
// What a program does with Nacre: a rank, as its main and its handlers see it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <nacre/collectives.hpp>
#include <nacre/ids.hpp>
#include <nacre/mobile_ptr.hpp>
#include <nacre/operations.hpp>

namespace nacre {

/// One rank, as its main sees it. Belongs to the application thread of the rank.
class runtime : public operations {
 public:
  runtime(engine& core, thread_context& on) noexcept : operations(core, on) {}
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // Collectives. All ranks call the same ones in the same order, with values of one type, from their mains; else the
  // job ends with a line that says who called what. A type is any that messages may carry. `op` takes two values and
  // returns one; it must be associative. It need not be commutative: values are combined in the order of the ranks, and
  // always in the same grouping, so that sums of floating-point numbers are the same in every run. Each takes a number
  // of steps that grows with the logarithm of the number of ranks, and none returns before all ranks have called it.

  /// Waits until every rank is here, while this rank goes on running handlers.
  void barrier() { static_cast<void>(detail::run_collective(*core_, *thread_, {})); }
  /// The root's value, on every rank.
  template <class T>
  [[nodiscard]] T broadcast(const T& value, rank_id root) {
    return detail::broadcast_value(*core_, *thread_, value, root);
  }
  /// op(op(v0, v1), ...) over the values of all ranks, at the root; nothing elsewhere.
  using operations::reduce;  // over the elements of an array
  template <class T, class Op>
  std::optional<T> reduce(const T& value, Op op, rank_id root) {
    const auto bytes = detail::combine_values(*core_, *thread_, collective_kind::reduce, root, value, std::move(op));
    if (rank() != root) return std::nullopt;
    return detail::unpack_own<T>(bytes);
  }
  /// As reduce, with the result on every rank.
  template <class T, class Op>
  [[nodiscard]] T all_reduce(const T& value, Op op) {
    return detail::unpack_own<T>(
        detail::combine_values(*core_, *thread_, collective_kind::all_reduce, {}, value, std::move(op)));
  }
  /// The values of all ranks, by rank, at the root; an empty vector elsewhere.
  template <class T>
  std::vector<T> gather(const T& value, rank_id root) {
    return detail::gather_values(*core_, *thread_, collective_kind::gather, root, value);
  }
  /// The values of all ranks, by rank, on every rank.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& value) {
    return detail::gather_values(*core_, *thread_, collective_kind::all_gather, {}, value);
  }
  /// op(op(v0, v1), ...) over the values of the ranks up to this one, its own included.
  template <class T, class Op>
  [[nodiscard]] T scan(const T& value, Op op) {
    return detail::unpack_own<T>(
        detail::combine_values(*core_, *thread_, collective_kind::scan, {}, value, std::move(op)));
  }
  /// op(op(init, v0), ...) over the values of the ranks before this one; `init` itself on rank 0.
  template <class T, class Op>
  [[nodiscard]] T exclusive_scan(const T& value, T init, Op op) {
    const auto before = detail::combine_values(*core_, *thread_, collective_kind::exclusive_scan, {}, value, op);
    if (rank().value() == 0) return init;
    return static_cast<T>(op(std::move(init), detail::unpack_own<T>(before)));
  }

  /// Collective: an array of mobile objects. `make` is called with each place on the place's home, on all ranks at the
  /// same time, and returns its element. When this returns every rank may send to every element. All ranks give the
  /// same options, shape and placement, and make their arrays in one order; else the job ends with a line that says who
  /// made what.
  template <class T, class Make, array_placement P = by_block>
  requires std::is_invocable_r_v<T, Make&, const nacre::index&>
  [[nodiscard]] array_ptr<T, P> create_array(const array_options& how, const extents& shape, Make&& make, P = {}) {
    const array_ptr<T, P> made = open_array<T, P>(how, shape, true);
    for (std::uint64_t number = 0; number < shape.count(); ++number) {
      const nacre::index at = shape.place_of(number);
      if (made.home_of(at) != rank()) continue;
      detail::adopt_element(*core_, *thread_, made.first(), number, new T(make(at)));
    }
    detail::agree_on_array(*core_, *thread_, made.first(), detail::type_mark<array_ptr<T, P>>());
    return made;
  }
  /// As above, of elements made by their default constructor.
  template <class T, array_placement P = by_block>
  [[nodiscard]] array_ptr<T, P> create_array(const array_options& how, const extents& shape, P placement = {}) {
    return create_array<T>(
        how, shape, [](const nacre::index&) { return T(); }, placement);
  }
  /// As above, without elements: they are inserted later.
  template <class T, array_placement P = by_block>
  [[nodiscard]] array_ptr<T, P> create_array(const array_options& how, const extents& shape, sparse_t, P = {}) {
    const array_ptr<T, P> made = open_array<T, P>(how, shape, false);
    detail::agree_on_array(*core_, *thread_, made.first(), detail::type_mark<array_ptr<T, P>>());
    return made;
  }
  /// Each of them with the options that most arrays have: the shape, then what comes behind it above.
  template <class T, class... Args>
  [[nodiscard]] auto create_array(const extents& shape, Args&&... args) {
    return create_array<T>(array_options{}, shape, std::forward<Args>(args)...);
  }
  using operations::destroy;
  /// Collective: ends all elements, after what has been sent to all of them before, and gives back what the array has
  /// taken on every rank. What is sent to an element later reaches its sender's error handler.
  template <class T, class P>
  void destroy(const array_ptr<T, P>& array) {
    detail::destroy_array(*core_, *thread_, array.first());
  }

  /// Collective: waits until no handler runs and no message is under way anywhere.
  void wait_quiescence() { detail::wait_quiescence(*core_, *thread_); }

  /// What this rank has done so far.
  [[nodiscard]] rank_counters counters() const noexcept { return detail::counters_of(*core_); }

  /// Who is told of messages to destroyed objects that this rank sent; the default prints one line each to stderr.
  /// Called on any thread context of the rank, by several at a time, and for a moment after it has been replaced; what it throws
  /// ends the job.
  void on_delivery_error(std::function<void(const delivery_error&)> handler) {
    detail::set_error_handler(*core_, *thread_, std::move(handler));
  }

 private:
  template <class T, class P>
  array_ptr<T, P> open_array(const array_options& how, const extents& shape, bool dense) {
    const std::uint64_t first = detail::open_array(
        *core_, {.shape = shape,
                 .type = &detail::type_of<T>(),
                 .home = &detail::home_of_number<P>,
                 .dense = dense,
                 .location = how.location == location_policy::of_program ? detail::location_of<T>() : how.location});
    return array_ptr<T, P>(first, shape, size());
  }
};

/// A rank, as a running handler sees it. Valid during the handler; in a coroutine, until it ends.
class context : public operations {
 public:
  context(engine& core, thread_context& on, const message_header& cause) noexcept
      : operations(core, on, object_id::from_value(cause.object)), source_(cause.source) {}

  /// The rank that sent the message.
  [[nodiscard]] rank_id source() const noexcept { return rank_id(source_); }
  /// The worker that runs the handler.
  [[nodiscard]] worker_id worker() const noexcept;
  /// The mobile object that the handler runs on.
  template <class T>
  [[nodiscard]] mobile_ptr<T> self() const noexcept {
    return mobile_ptr<T>(acting_);
  }
  /// Its place, when it is an element of an array. Throws usage_error when it is none.
  [[nodiscard]] nacre::index index() const { return detail::index_of_element(*core_, acting_); }
  /// Declares that the handler has cost so many seconds: virtual time under simulation, load elsewhere.
  void charge(double seconds) noexcept;
  /// True when idle workers or ranks ask for work: split if you can. Cheap enough to ask every few microseconds.
  [[nodiscard]] bool wanted_elsewhere() const noexcept;

  /// For the runtime: the thread context that a suspended coroutine goes on with.
  void move_to(thread_context& on) noexcept { thread_ = &on; }
  [[nodiscard]] engine& core() const noexcept { return *core_; }
  [[nodiscard]] thread_context& current_thread() const noexcept { return *thread_; }

 private:
  std::uint32_t source_;
};

namespace detail {
template <class T, class... Args>
mobile_ptr<T> create_remotely(context& ctx, Args... args) {
  return ctx.create<T>(std::move(args)...);
}
}  // namespace detail
}  // namespace nacre
