// SPDX-License-Identifier: Apache-2.0
// Groups, one object on every rank that never moves: messages to one object or to all, and the object of this rank.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/array_operations.hpp>
#include <nacre/group.hpp>

namespace nacre {

/// Operations on groups, which runtime::create_group makes. A base class of `operations`.
///
/// Handlers on an object of a group run at the same time, whether they are const or not, and beside main's use of it by
/// local(): the class guards its members itself, by atomics or a mutex. Messages from one rank to one object of a group
/// keep the order of messages between ranks. A message to a group that has ended is a usage_error of its handler: the
/// caller gets it, and for a send it ends the job.
class group_operations : public array_operations {
 public:
  using array_operations::call;
  using array_operations::reduce;
  using array_operations::send;

  /// This rank's object of a group. Wait-free. Throws usage_error when the group has ended, or when `group` names none.
  template <class T>
  [[nodiscard]] T& local(group_ptr<T> group) const {
    return *static_cast<T*>(detail::local_member(*core_, group.number(), detail::group_type_of<T>));
  }

  /// Runs the member function F on the object g[rank], or on every object of a group, one on each rank.
  template <auto F, class T, class... Args>
  void send(group_member<T> to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  void send(with how, group_member<T> to, Args&&... args) {
    send<detail::member_handler<F, T>{}>(how, to.rank(), to.group(), std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  void send(group_ptr<T> to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  void send(with how, group_ptr<T> to, Args&&... args) {
    send<detail::member_handler<F, T>{}>(how, to_all, to.number(), std::forward<Args>(args)...);
  }
  /// Runs F on the object g[rank] and returns a future of its result, which fails with call_error when F throws.
  template <auto F, class T, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(group_member<T> to, Args&&... args) {
    return call<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(with how, group_member<T> to, Args&&... args) {
    return call<detail::member_handler<F, T>{}>(how, to.rank(), to.group(), std::forward<Args>(args)...);
  }
  /// Runs F on every object and drops the results. The future is ready when all have run F; it fails with call_error
  /// when one threw. The arguments are copied for each rank.
  template <auto F, class T, class... Args>
  [[nodiscard]] future<void> call(group_ptr<T> to, Args&&... args) {
    return ask_all<F, T, void>(to, std::forward<Args>(args)...);
  }
  /// Runs F on every object and combines the results in the order of the ranks, always in the same grouping. Op must be
  /// associative. It runs on every rank, so it has no members or captures. The future fails with call_error when F or
  /// Op threw. The arguments are copied for each rank. The steps grow with the logarithm of the number of ranks.
  template <auto F, class T, class Op, class... Args>
  [[nodiscard]] future<detail::result_of<F>> reduce(group_ptr<T> of, Op, Args&&... args) {
    static_assert(!std::is_void_v<detail::result_of<F>>,
                  "a reduction needs results: use call, which waits for all objects");
    static_assert(std::is_empty_v<Op> && std::is_default_constructible_v<Op>,
                  "the operation of a reduction runs on every rank, so it has no members and no captures");
    return ask_all<F, T, Op>(of, std::forward<Args>(args)...);
  }

  /// Runs a lambda without captures on g[rank] or on every object, as the functions above do. It takes the object
  /// first:
  ///
  ///     rt.send(g[nacre::rank_id{3}], [](table& t, nacre::context& ctx, int n) { ... }, 1);
  template <class T, class L, class... Args>
  void send(group_member<T> to, L, Args&&... args) {
    send<detail::object_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  void send(with how, group_member<T> to, L, Args&&... args) {
    send<detail::object_lambda<L>>(how, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  void send(group_ptr<T> to, L, Args&&... args) {
    send<detail::object_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  void send(with how, group_ptr<T> to, L, Args&&... args) {
    send<detail::object_lambda<L>>(how, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  [[nodiscard]] future<detail::result_of<detail::object_lambda<L>>> call(group_member<T> to, L, Args&&... args) {
    return call<detail::object_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  [[nodiscard]] future<detail::result_of<detail::object_lambda<L>>> call(with how, group_member<T> to, L,
                                                                         Args&&... args) {
    return call<detail::object_lambda<L>>(how, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  [[nodiscard]] future<void> call(group_ptr<T> to, L, Args&&... args) {
    return call<detail::object_lambda<L>>(to, std::forward<Args>(args)...);
  }
  template <class T, class L, class Op, class... Args>
  [[nodiscard]] future<detail::result_of<detail::object_lambda<L>>> reduce(group_ptr<T> of, L, Op op, Args&&... args) {
    return reduce<detail::object_lambda<L>>(of, std::move(op), std::forward<Args>(args)...);
  }

 protected:
  using array_operations::array_operations;
  ~group_operations() = default;

 private:
  template <auto F, class T, class Op, class... Args>
  auto ask_all(group_ptr<T> of, Args&&... args) {
    using tree = detail::group_tree<F, T, Op, typename detail::traits<F>::values>;
    return call<&tree::run>(rank_id{0}, of.number(), detail::rank_range{0, size()}, std::forward<Args>(args)...);
  }
};

}  // namespace nacre
