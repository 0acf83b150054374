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

}  // namespace detail

/// What can be done with mobile objects. See operations, which it is a part of.
class object_operations : public rank_operations {
 public:
  using rank_operations::call;
  using rank_operations::send;

  /// Runs a member function on a mobile object, wherever it is. A const one may run beside other const ones; a
  /// non-const one runs alone. Messages from one handler to one object run in the order sent.
  template <auto F, class T, class... Args>
  void send(mobile_ptr<T> to, Args&&... args) {
    send<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  void send(with how, mobile_ptr<T> to, Args&&... args) {
    detail::post_to_object(*core_, *thread_, {acting_, to.id()},
                           object_message<F, T>(how, std::forward<Args>(args)...));
  }

  template <auto F, class T, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(mobile_ptr<T> to, Args&&... args) {
    return call<F>(with{}, to, std::forward<Args>(args)...);
  }
  template <auto F, class T, class... Args>
  [[nodiscard]] future<detail::result_of<F>> call(with how, mobile_ptr<T> to, Args&&... args) {
    message_ptr m = object_message<F, T>(how, std::forward<Args>(args)...);
    auto result = pending<detail::result_of<F>>();
    detail::post_to_object(*core_, *thread_, {acting_, to.id()}, std::move(m), result.state());
    return result;
  }

  /// Makes a mobile object here; T must be default-constructible and serializable, so that it can move.
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
  /// Moves an object after the messages that this caller sent to it before. Ready when it has arrived. One whose class
  /// has a member `bool may_migrate() const` that says false stays, and the future fails with call_error.
  template <class T>
  future<void> migrate(mobile_ptr<T> object, rank_id to) {
    auto moved = pending<void>();
    detail::post_migrate(*core_, *thread_, object.id(), to, *moved.state());
    return moved;
  }
  /// Ends an object after the messages that this caller sent to it before. What others send later reaches their
  /// error handler.
  template <class T>
  void destroy(mobile_ptr<T> object) {
    detail::post_destroy(*core_, *thread_, object.id());
  }
  /// Runs f(T&) in main, alone on the object, behind what main has sent to it before, and returns a copy of the result.
  /// An object that is elsewhere moves here first; to work on it where it is, send it a member function. Main waits for
  /// its turn and runs other work meanwhile; f itself does not wait: it may send, but what would block it (a future
  /// that is not ready, a collective, another lock) throws usage_error, so that nothing deadlocks. What would move or
  /// end the object waits until f has ended, also by an exception, which passes through. Throws call_error when the
  /// object has been destroyed, or refuses to come (may_migrate), and usage_error in a handler.
  template <class T, class F>
  auto with_exclusive(mobile_ptr<T> object, F&& f) {
    const detail::object_lock lock(*core_, *thread_, object.id(), detail::object_access::exclusive,
                                   detail::key_of<T>());
    return std::forward<F>(f)(*static_cast<T*>(lock.held()));
  }
  /// As with_exclusive, but f takes a const T&, and shared handlers may run beside it.
  template <class T, class F>
  auto with_shared(mobile_ptr<T> object, F&& f) {
    const detail::object_lock lock(*core_, *thread_, object.id(), detail::object_access::shared, detail::key_of<T>());
    return std::forward<F>(f)(*static_cast<const T*>(lock.held()));
  }
  /// Brings 2 to 16 different objects to one rank and runs F there once, alone on all of them (PREMA section 4.1.2,
  /// ilb_multicast): `void merge(nacre::context&, cell& a, part& b, int how)` by colocate<merge>(p, q, 3). The context
  /// is optional, its self() is the first object; each reference to an object takes a mobile_ptr to one of its class,
  /// also a const one, which is alone on its object all the same. F runs behind what this caller has sent to each of
  /// the objects before, and before what it sends later. As few objects move as can be; one that refuses to is where F
  /// runs. F does not run when an object has been destroyed before its turn, or several refuse to move on different
  /// ranks: then the error handler of this rank is told (on_delivery_error), and the other objects go on.
  template <auto F, class... Args>
  void colocate(Args&&... args) {
    post_together<F>(together_call<F>(args...), nullptr, std::forward<Args>(args)...);
  }
  /// As colocate, with the result of F for the caller; a failure is a call_error.
  template <auto F, class... Args>
  [[nodiscard]] auto colocate_call(Args&&... args) {
    using result = typename detail::colocation_of<F, std::decay_t<Args>...>::result;
    auto awaited = pending<result>();
    post_together<F>(together_call<F>(args...), awaited.state(), std::forward<Args>(args)...);
    return awaited;
  }
  /// Whether the object is on this rank at this moment.
  template <class T>
  [[nodiscard]] bool is_local(mobile_ptr<T> object) const noexcept {
    return detail::is_resident(*core_, *thread_, object.id());
  }

 protected:
  using rank_operations::rank_operations;
  ~object_operations() = default;

  template <auto F, class T, class... Args>
  static message_ptr object_message(with how, Args&&... args) {
    static_assert(std::is_base_of_v<typename detail::traits<F>::target, T> || !detail::traits<F>::possible,
                  "F is no member function of the object");
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
  template <auto F, class... Args>
  static message_ptr together_call(Args&... args) {
    using what = detail::colocation_of<F, std::decay_t<Args>...>;
    const std::tuple<Args&...> all(args...);
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return what::shape::make(std::get<what::count + Index>(all)...);
    }
    (std::make_index_sequence<sizeof...(Args) - what::count>());
  }
  template <auto F, class... Args>
  void post_together(message_ptr m, detail::future_state* result, Args&&... args) {
    using what = detail::colocation_of<F, std::decay_t<Args>...>;
    const std::tuple<Args&...> all(args...);
    [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      const std::array<object_id, what::count> objects{std::get<Index>(all).id()...};
      detail::post_colocate(*core_, *thread_, objects, std::move(m), result);
    }
    (std::make_index_sequence<what::count>());
  }
};

}  // namespace nacre
