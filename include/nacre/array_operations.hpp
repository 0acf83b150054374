// SPDX-License-Identifier: Apache-2.0
// Arrays of mobile objects: messages to all elements, and elements that come and go.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <nacre/array.hpp>
#include <nacre/object_operations.hpp>

namespace nacre {

/// Operations on whole arrays. A base class of `operations`; operations on single elements are in object_operations.
///
/// Broadcasts, calls and reductions on one array are done in one order, which is the same for all elements. Requests of
/// one main or handler keep the order in which it made them. The home of a place applies this order at that place: the
/// element that exists there when a request is due runs it once, on whichever rank the element is. Between these
/// requests and messages to single elements there is no order, except the order that waiting for futures makes.
class array_operations : public object_operations {
 public:
  using object_operations::call;
  using object_operations::send;

  /// Runs F on every element of an array: once on each element that exists when the request is due at its place.
  template <auto F, class T, class P, class... Args>
  void send(const array_ptr<T, P>& to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class P, class... Args>
  void send(with how, const array_ptr<T, P>& to, Args&&... args) {
    detail::refuse_deadline(how);
    detail::post_to_array(*core_, *thread_, {.first = to.first()},
                          object_message<F, T>(how, std::forward<Args>(args)...));
  }
  /// Runs F on every element, as send does, and drops the results. The future is ready when all those elements have run
  /// F; it fails with call_error when one threw.
  template <auto F, class T, class P, class... Args>
  [[nodiscard]] future<void> call(const array_ptr<T, P>& to, Args&&... args) {
    auto done = pending<void>();
    detail::post_to_array(*core_, *thread_, {.first = to.first(), .done = done.state()},
                          object_message<F, T>(with{}, std::forward<Args>(args)...));
    return done;
  }
  /// Runs F on every element and combines the results: op(op(r0, r1), ...) over the elements that exist, each counted
  /// once. With the placement by_block the results are combined in the order of the places; with another placement, in
  /// that order on each rank, rank by rank. The grouping is always the same for the same elements, so sums of
  /// floating-point numbers are the same in every run. Op must be associative. It runs on every rank, so it has no
  /// members or captures. The future fails with call_error when there is no element, or when an element threw.
  template <auto F, class T, class P, class Op, class... Args>
  [[nodiscard]] future<detail::result_of<F>> reduce(const array_ptr<T, P>& of, Op, Args&&... args) {
    using result = std::decay_t<detail::result_of<F>>;
    static_assert(!std::is_void_v<result>, "a reduction needs results: use call, which waits for all elements");
    static_assert(std::is_empty_v<Op> && std::is_default_constructible_v<Op>,
                  "the operation of a reduction runs on every rank, so it has no members and no captures");
    auto combined = pending<detail::result_of<F>>();
    detail::post_to_array(*core_, *thread_,
                          {.first = of.first(), .done = combined.state(), .fold = detail::fold_of<result, Op>()},
                          object_message<F, T>(with{}, std::forward<Args>(args)...));
    return combined;
  }

  /// Runs a lambda without captures on every element, as send<F>, call<F> and reduce<F> do. It takes the element first:
  ///
  ///     rt.send(grid, [](cell& c) { ... });
  ///     rt.reduce(grid, [](const cell& c) { return c.u.size(); }, std::plus<>{}).get();
  template <class T, class P, class L, class... Args>
  void send(const array_ptr<T, P>& to, L, Args&&... args) {
    send<detail::object_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class T, class P, class L, class... Args>
  void send(with how, const array_ptr<T, P>& to, L, Args&&... args) {
    send<detail::object_lambda<L>>(how, to, std::forward<Args>(args)...);
  }
  template <class T, class P, class L, class... Args>
  [[nodiscard]] future<void> call(const array_ptr<T, P>& to, L, Args&&... args) {
    return call<detail::object_lambda<L>>(to, std::forward<Args>(args)...);
  }
  template <class T, class P, class L, class Op, class... Args>
  [[nodiscard]] future<detail::result_of<detail::object_lambda<L>>> reduce(const array_ptr<T, P>& of, L, Op op,
                                                                           Args&&... args) {
    return reduce<detail::object_lambda<L>>(of, std::move(op), std::forward<Args>(args)...);
  }

  /// Makes the element of a place from the arguments, on the place's home. The insertion is a message to the place:
  /// messages that this caller sends to the element later find it. The future fails with call_error when the place has
  /// an element already.
  template <class T, class P, class... Args>
  future<void> insert(const array_ptr<T, P>& into, const index& at, Args&&... args) {
    const mobile_ptr<T> element = into[at];
    auto object = std::make_unique<T>(make_aggregate_or_object<T>(std::forward<Args>(args)...));
    auto done = pending<void>();
    detail::post_insert(*core_, *thread_, element.id(), detail::type_of<T>(), object.release(), *done.state());
    return done;
  }
  /// Ends the element of a place, on whichever rank it is, after the messages that this caller sent to it before. The
  /// place may get another element. The future fails with call_error when there is no element. `destroy` ends an
  /// element too, without a future.
  template <class T, class P>
  future<void> erase(const array_ptr<T, P>& from, const index& at) {
    auto done = pending<void>();
    detail::post_erase(*core_, *thread_, from[at].id(), *done.state());
    return done;
  }

 protected:
  using object_operations::object_operations;
  ~array_operations() = default;
};

}  // namespace nacre
