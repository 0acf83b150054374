// SPDX-License-Identifier: Apache-2.0
// Arrays of mobile objects: messages to all elements, and elements that come and go.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <nacre/array.hpp>
#include <nacre/object_operations.hpp>

namespace nacre {

/// What can be done with arrays, beside what can be done with each element. See operations, which it is a part of.
///
/// The home of a place orders what concerns all elements: every element that exists when a broadcast has its turn at
/// its place runs it once, wherever it is. All broadcasts, calls and reductions on one array have their turns in one
/// order, the same for all elements; those of one main or handler in the order in which it made them. Between them and
/// messages to single elements there is no order but what futures make.
class array_operations : public object_operations {
 public:
  using object_operations::call;
  using object_operations::send;

  /// Runs F on every element of an array, once on each that exists when its turn comes.
  template <auto F, class T, class P, class... Args>
  void send(const array_ptr<T, P>& to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class P, class... Args>
  void send(with how, const array_ptr<T, P>& to, Args&&... args) {
    detail::post_to_array(*core_, *thread_, {.first = to.first()},
                          object_message<F, T>(how, std::forward<Args>(args)...));
  }
  /// As send. Ready when all those elements have run F, whose results are dropped; fails with call_error when one
  /// threw.
  template <auto F, class T, class P, class... Args>
  [[nodiscard]] future<void> call(const array_ptr<T, P>& to, Args&&... args) {
    auto done = pending<void>();
    detail::post_to_array(*core_, *thread_, {.first = to.first(), .done = done.state()},
                          object_message<F, T>(with{}, std::forward<Args>(args)...));
    return done;
  }
  /// Runs F on every element and combines the results: op(op(r0, r1), ...) over the elements that exist, each counted
  /// once, in the order of their places where these are placed by block, else in that order on each rank, rank by rank.
  /// Always in the same grouping for the same elements, so sums of floating-point numbers are the same in every run; a
  /// rank that combines them must be able to, so Op has no members or captures. It must be associative. Fails with
  /// call_error when there is no element, or when one threw.
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

  /// Makes the element of a place from the arguments, on the place's home. It is a message to the place like any other:
  /// what this caller sends to the element later finds it. Fails with call_error when there is one already.
  template <class T, class P, class... Args>
  future<void> insert(const array_ptr<T, P>& into, const index& at, Args&&... args) {
    const mobile_ptr<T> element = into[at];
    auto object = std::make_unique<T>(make_aggregate_or_object<T>(std::forward<Args>(args)...));
    auto done = pending<void>();
    detail::post_insert(*core_, *thread_, element.id(), detail::type_of<T>(), object.release(), *done.state());
    return done;
  }
  /// Ends the element of a place, wherever it is, after the messages that this caller sent to it before. The place may
  /// get another one. Fails with call_error when there is none. `destroy` does the same and tells nobody.
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
