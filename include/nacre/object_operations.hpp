// SPDX-License-Identifier: Apache-2.0
// Mobile objects: making, addressing, moving and ending them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/colocate.hpp>
#include <nacre/mobile_ptr.hpp>
#include <nacre/rank_operations.hpp>

namespace nacre {
namespace detail {

template <class T, class... Args>
mobile_ptr<T> create_remotely(context& ctx, Args... args);

/// T is the class that the member function F belongs to, or derived from it, or a pointer to one.
template <class T, auto F>
concept takes_function = std::is_base_of_v<typename traits<F>::target, std::remove_cv_t<std::remove_pointer_t<T>>>;

}  // namespace detail

/// Operations on mobile objects. A base class of `operations`.
class object_operations : public rank_operations {
 public:
  using rank_operations::after;
  using rank_operations::call;
  using rank_operations::send;

  /// Runs the member function F on a mobile object, on whichever rank it is. Const functions may run beside other const
  /// ones; a non-const one runs alone. Messages from one handler to one object run in the order sent.
  template <auto F, class T, class... Args>
  void send(mobile_ptr<T> to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  void send(with how, mobile_ptr<T> to, Args&&... args) {
    detail::refuse_deadline(how);
    detail::post_to_object(*core_, *thread_, {acting_, to.id()},
                           object_message<F, T>(how, std::forward<Args>(args)...));
  }

  /// Does not compile: an object of this process is no mobile one. The compiler's message says so in one sentence.
  template <auto F, detail::takes_function<F> T, class... Args>
  void send(const T&, Args&&...) {
    static_assert(!std::is_same_v<T, T>,
                  "a mobile object is made by create<T>(), and reached by the nacre::mobile_ptr<T> that this returns: "
                  "write send<&T::f>(pointer, ...); on an object of your own, call the function");
  }
  template <auto F, class T, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(mobile_ptr<T> to, Args&&... args) {
    return call<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, detail::takes_function<F> T, class... Args>
  future<detail::result_of<F>> call(const T&, Args&&...) {
    static_assert(!std::is_same_v<T, T>,
                  "a mobile object is made by create<T>(), and reached by the nacre::mobile_ptr<T> that this returns: "
                  "write call<&T::f>(pointer, ...); on an object of your own, call the function");
    return {};
  }
  template <auto F, class T, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(with how, mobile_ptr<T> to, Args&&... args) {
    message_ptr m = object_message<F, T>(how, std::forward<Args>(args)...);
    auto result = pending<detail::result_of<F>>();
    make_call(how, result, [&] {
      detail::post_to_object(*core_, *thread_, {acting_, to.id()}, std::move(m), result.state());
    });
    return result;
  }
  /// Sends F to a mobile object after so many seconds, as rank_operations::after does. The message takes its place
  /// behind those that this rank has sent to the object by then.
  template <auto F, class T, class... Args>
  requires(!std::is_void_v<typename detail::traits<F>::target>) delayed_message
      after(double seconds, mobile_ptr<T> to, Args&&... args) {
    return delayed_message(*detail::post_after(*core_, *thread_, seconds, {acting_, to.id()},
                                               object_message<F, T>(with{}, std::forward<Args>(args)...)));
  }

  /// Runs a lambda without captures on a mobile object. It takes the object first: as cell& it runs alone, as const
  /// cell& it may run beside other such handlers. The context is optional and follows the object:
  ///
  ///     rt.send(p, [](cell& c, nacre::context& ctx, int n) { ... }, 5);
  template <class T, class L, class... Args>
  void send(mobile_ptr<T> to, L, Args&&... args) {
    send<detail::object_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  void send(with how, mobile_ptr<T> to, L, Args&&... args) {
    send<detail::object_lambda<L>>(how, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  [[nodiscard]] future<detail::result_of<detail::object_lambda<L>>> call(mobile_ptr<T> to, L, Args&&... args) {
    return call<detail::object_lambda<L>>(with{}, to, std::forward<Args>(args)...);
  }
  template <class T, class L, class... Args>
  [[nodiscard]] future<detail::result_of<detail::object_lambda<L>>> call(with how, mobile_ptr<T> to, L,
                                                                         Args&&... args) {
    return call<detail::object_lambda<L>>(how, to, std::forward<Args>(args)...);
  }

  /// Makes a mobile object on this rank. T must be default-constructible and serializable, so that it can move.
  template <class T, class... Args>
  mobile_ptr<T> create(Args&&... args) {
    auto object = std::make_unique<T>(make_aggregate_or_object<T>(std::forward<Args>(args)...));
    return mobile_ptr<T>(detail::adopt_object(*core_, *thread_, detail::type_of<T>(), object.release()));
  }
  template <class T>
  mobile_ptr<T> create() {
    return mobile_ptr<T>(detail::adopt_object(*core_, *thread_, detail::type_of<T>(), new T()));
  }
  /// Makes a mobile object on another rank from copies of the arguments.
  template <class T, class... Args>
  [[nodiscard]] future<mobile_ptr<T>> create_on(rank_id where, Args&&... args) {
    return call<&detail::create_remotely<T, std::decay_t<Args>...>>(where, std::forward<Args>(args)...);
  }
  /// Moves an object after the messages that this caller sent to it before. The future is ready when the object has
  /// arrived. An object stays, and the future fails with call_error, if its class has a member `bool may_migrate()
  /// const` that returns false.
  template <class T>
  future<void> migrate(mobile_ptr<T> object, rank_id to) {
    auto moved = pending<void>();
    detail::post_migrate(*core_, *thread_, object.id(), to, *moved.state());
    return moved;
  }
  /// Ends an object after the messages that this caller sent to it before. Messages that others send later are reported
  /// to the error handlers of their ranks (runtime::on_delivery_error).
  template <class T>
  void destroy(mobile_ptr<T> object) {
    detail::post_destroy(*core_, *thread_, object.id());
  }
  /// Runs f(T&) in main, alone on the object, after the messages that main has sent to it before, and returns a copy of
  /// the result. An object on another rank moves here first; to work on it there, send it a member function. Main waits
  /// for access to the object and runs other work meanwhile. f may send, but must not wait: a call that would block (a
  /// future that is not ready, a collective, another lock) throws usage_error, so that no deadlock can arise. Migration
  /// and destruction of the object wait until f has ended, also if it ends by an exception, which the caller gets.
  /// Throws call_error when the object has been destroyed or refuses to move here (may_migrate), and usage_error in a
  /// handler.
  template <class T, class F>
  auto with_exclusive(mobile_ptr<T> object, F&& f) {
    const detail::object_lock lock(*core_, *thread_, object.id(), detail::object_access::exclusive,
                                   detail::key_of<T>());
    return std::forward<F>(f)(*static_cast<T*>(lock.held()));
  }
  /// Runs f(const T&) as with_exclusive does, but shared handlers may run on the object at the same time.
  template <class T, class F>
  auto with_shared(mobile_ptr<T> object, F&& f) {
    const detail::object_lock lock(*core_, *thread_, object.id(), detail::object_access::shared, detail::key_of<T>());
    return std::forward<F>(f)(*static_cast<const T*>(lock.held()));
  }
  /// Brings 2 to 16 different objects to one rank and runs F there once, alone on all of them (PREMA section 4.1.2,
  /// ilb_multicast). For example, colocate<merge>(p, q, 3) runs `void merge(nacre::context&, cell& a, part& b, int
  /// how)`. The context is optional; its self() is the first object. Each reference to an object takes a mobile_ptr to
  /// an object of its class. F is alone on each object, also where the reference is const. F runs after the messages
  /// that this caller has sent to each object before, and before those that it sends later. As few objects move as
  /// possible; if one refuses to move, F runs on its rank. F does not run when an object is destroyed before, or when
  /// objects on different ranks refuse to move: the failure is then reported to the error handler of this rank
  /// (on_delivery_error), and the other objects continue.
  template <auto F, class... Args>
  void colocate(Args&&... args) {
    post_colocation<F>(colocation_message<F>(args...), nullptr, std::forward<Args>(args)...);
  }
  /// Runs F as colocate does and returns a future of its result, which fails with call_error.
  template <auto F, class... Args>
  [[nodiscard]] auto colocate_call(Args&&... args) {
    using result = typename detail::colocation_of<F, std::decay_t<Args>...>::result;
    auto awaited = pending<result>();
    post_colocation<F>(colocation_message<F>(args...), awaited.state(), std::forward<Args>(args)...);
    return awaited;
  }
  /// Colocates for a lambda without captures, which stands behind the objects: colocate(p, q, [](cell& a, part& b, int
  /// how) { ... }, 3).
  template <class... Args>
  void colocate(Args&&... args) {
    split_at_lambda(
        [&]<class L>(std::type_identity<L>, auto&&... rest) {
          colocate<detail::rank_lambda<L>>(std::forward<decltype(rest)>(rest)...);
        },
        std::forward<Args>(args)...);
  }
  template <class... Args>
  [[nodiscard]] auto colocate_call(Args&&... args) {
    return split_at_lambda(
        [&]<class L>(std::type_identity<L>, auto&&... rest) {
          return colocate_call<detail::rank_lambda<L>>(std::forward<decltype(rest)>(rest)...);
        },
        std::forward<Args>(args)...);
  }
  /// The home of an object: the rank that knows where it is, and to which messages go that have no better way. It is
  /// the rank that made the object, or its place in an array, but in a job that has been restored on another number of
  /// ranks. Throws usage_error when `object` is none of this job.
  template <class T>
  [[nodiscard]] rank_id home_of(mobile_ptr<T> object) const {
    return detail::home_of(*core_, object.id());
  }
  /// Whether the object is on this rank at this moment.
  template <class T>
  [[nodiscard]] bool is_local(mobile_ptr<T> object) const noexcept {
    return detail::is_local(*core_, *thread_, object.id());
  }

 protected:
  using rank_operations::rank_operations;
  ~object_operations() = default;

  template <auto F, class T, class... Args>
  static message_ptr object_message(with how, Args&&... args) {
    static_assert(std::is_base_of_v<typename detail::traits<F>::target, T> || !detail::traits<F>::possible,
                  "F is no member function of the object, or the lambda takes an object of another class");
    message_ptr m = detail::make_typed<F, T>(std::forward<Args>(args)...);
    m->header.kind = message_kind::object;
    detail::stamp<F>(*m, how);
    return m;
  }
  template <class T, class... Args>
  static T make_aggregate_or_object(Args&&... args) {
    if constexpr (std::is_constructible_v<T, Args...>) {
      return T(std::forward<Args>(args)...);
    } else {
      return T{std::forward<Args>(args)...};
    }
  }

 private:
  /// Calls `body` with the type of the lambda among `args` and with all other arguments.
  template <class Body, class... Args>
  static decltype(auto) split_at_lambda(Body&& body, Args&&... args) {
    constexpr std::size_t at = detail::objects_before_lambda<Args...>();
    static_assert(at < sizeof...(Args),
                  "colocate wants a function, as in colocate<merge>(p, q), or a lambda behind the "
                  "objects, as in colocate(p, q, [](cell& a, cell& b) {})");
    if constexpr (at < sizeof...(Args)) {
      std::tuple<Args&&...> all(std::forward<Args>(args)...);
      using lambda = std::decay_t<std::tuple_element_t<at, std::tuple<Args...>>>;
      return [&]<std::size_t... Index>(std::index_sequence<Index...>)->decltype(auto) {
        return body(std::type_identity<lambda>{}, std::get < Index < at ? Index : Index + 1 > (std::move(all))...);
      }
      (std::make_index_sequence<sizeof...(Args) - 1>());
    }
  }
  template <auto F, class... Args>
  static message_ptr colocation_message(Args&... args) {
    using colocation = detail::colocation_of<F, std::decay_t<Args>...>;
    const std::tuple<Args&...> all(args...);
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return colocation::shape::make(std::get<colocation::count + Index>(all)...);
    }
    (std::make_index_sequence<sizeof...(Args) - colocation::count>());
  }
  template <auto F, class... Args>
  void post_colocation(message_ptr m, detail::future_state* result, Args&&... args) {
    using colocation = detail::colocation_of<F, std::decay_t<Args>...>;
    const std::tuple<Args&...> all(args...);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      const std::array<object_id, colocation::count> objects{std::get<Index>(all).id()...};
      detail::post_colocate(*core_, *thread_, objects, std::move(m), result);
    }
    (std::make_index_sequence<colocation::count>());
  }
};

}  // namespace nacre
