// SPDX-License-Identifier: Apache-2.0
// The signature of a handler: its arguments as a message stores them, and its result as a caller receives it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <nacre/archive/traits.hpp>

namespace nacre {

class context;
template <class T = void>
class task;
template <class R = void>
class awaited;

namespace detail {

template <class T>
struct stored {
  using type = T;
  using viewed = T;
};
template <class T>
struct stored<std::span<const T>> {
  using type = std::vector<T>;
  using viewed = std::span<const T>;
};
template <>
struct stored<std::string_view> {
  using type = std::string;
  using viewed = std::string_view;
};

/// An argument without parameter to convert it to, as it is packed.
template <class T>
using packed_argument =
    std::conditional_t<std::is_convertible_v<std::decay_t<T>, const char*>, std::string, std::decay_t<T>>;

/// Returns false when a message cannot fill these parameters, which follow the context; the compiler's message gives
/// the reason in one line.
template <class... Params>
consteval bool can_be_arguments() {
  constexpr bool no_context = (!std::is_same_v<std::decay_t<Params>, context> && ...);
  constexpr bool unchanged =
      ((!std::is_lvalue_reference_v<Params> || std::is_const_v<std::remove_reference_t<Params>>)&&...);
  static_assert(no_context, "a handler takes nacre::context& as its first parameter, or none: f(nacre::context&, int)");
  static_assert(
      unchanged || !no_context,
      "a handler gets copies of what was sent: write T or const T& instead of T&; a handler of an object is a "
      "member function");
  static_assert(
      (!holds_view<typename stored<std::decay_t<Params>>::type> && ...),
      "a view inside of an argument would look at memory of the sender: let the parameter itself be the view, "
      "a std::string_view or std::span<const T>, or own what it has, as std::string and std::vector do");
  return no_context && unchanged;
}

template <class... Params>
struct argument_types {
  static constexpr bool possible = can_be_arguments<Params...>();
  using values = std::tuple<typename stored<std::decay_t<Params>>::type...>;
  using views = std::tuple<typename stored<std::decay_t<Params>>::viewed...>;
  static constexpr std::size_t count = sizeof...(Params);
  static constexpr bool all_by_value = (!std::is_reference_v<Params> && ...);
};

/// Parameters without the leading context.
template <class... Params>
struct split_context : argument_types<Params...> {
  static constexpr bool takes_context = false;
};
template <class... Params>
struct split_context<context&, Params...> : argument_types<Params...> {
  static constexpr bool takes_context = true;
};

/// The case of something that is not a function, or of a function that a message cannot call; the compiler's message
/// says which in one sentence. Its members only keep the compiler from printing further errors.
template <class Signature>
struct signature : argument_types<> {
  static constexpr bool is_member = std::is_member_function_pointer_v<Signature>;
  static constexpr bool is_function = std::is_function_v<std::remove_pointer_t<Signature>>;
  static constexpr bool is_object = std::is_class_v<Signature>;
  static_assert(
      !is_member,
      "a member function that is a handler is const or not, without volatile, & and &&, and without ... among "
      "its parameters: leave them out, or use a lambda that calls it, as in send(object, [](cell& c, int n) { "
      "c.f(n); }, 1)");
  static_assert(!is_function,
                "a function with ... among its parameters is no handler, as a message holds arguments of known types: "
                "use a lambda that calls it, as in send(rank, [](int n) { f(1, n); }, 1)");
  static_assert(!is_object,
                "a lambda that is a handler, or another object with operator(), stands behind the target: write "
                "send(rank, add, 1) instead of send<add>(rank, 1)");
  static_assert(is_member || is_function || is_object,
                "a handler is a named function, as in send<f>(rank, 1) with void f(int), a member function, as in "
                "send<&cell::f>(object, 1), or a lambda behind the target, as in send(rank, [](int) {}, 1)");
  static constexpr bool possible = false;
  static constexpr bool takes_context = false;
  static constexpr bool is_const = false;
  using result = void;
  using target = void;
};
template <class R, class... P>
struct signature<R (*)(P...)> : split_context<P...> {
  using result = R;
  using target = void;
  static constexpr bool is_const = false;
};
template <class R, class... P>
struct signature<R (*)(P...) noexcept> : signature<R (*)(P...)> {};
template <class R, class T, class... P>
struct signature<R (T::*)(P...)> : split_context<P...> {
  using result = R;
  using target = T;
  static constexpr bool is_const = false;
};
template <class R, class T, class... P>
struct signature<R (T::*)(P...) const> : split_context<P...> {
  using result = R;
  using target = T;
  static constexpr bool is_const = true;
};
template <class R, class T, class... P>
struct signature<R (T::*)(P...) noexcept> : signature<R (T::*)(P...)> {};
template <class R, class T, class... P>
struct signature<R (T::*)(P...) const noexcept> : signature<R (T::*)(P...) const> {};

template <class T>
struct task_value {
  using type = T;
  static constexpr bool is_task = false;
};
template <class T>
struct task_value<task<T>> {
  using type = T;
  static constexpr bool is_task = true;
};

/// Members whose messages wait until they are asked for; see next.hpp.
template <class T>
inline constexpr bool is_awaited = false;
template <class R>
inline constexpr bool is_awaited<awaited<R>> = true;
template <class R>
struct task_value<awaited<R>> {
  using type = R;
  static constexpr bool is_task = false;
};

template <auto F>
using traits = signature<std::remove_const_t<decltype(F)>>;
/// A result that can be sent back. A reference cannot: the compiler's message says so in one sentence.
template <class R>
struct sent_back {
  static_assert(!std::is_reference_v<R>,
                "the result of a call is a copy that travels: let the handler return T instead of T&");
  static_assert(!holds_view<std::decay_t<R>>,
                "the result of a call is a copy that travels, and a view of it would look at memory that is gone: let "
                "the handler return std::string or std::vector instead of a view");
  using type = std::decay_t<R>;
};
template <>
struct sent_back<void> {
  using type = void;
};
/// The type that a caller of F receives: its result, or the value that its coroutine returns.
template <auto F>
using result_of = typename sent_back<typename task_value<typename traits<F>::result>::type>::type;

/// The template parameter of functions that only show, in the compiler's list of candidates, why the name of several
/// functions is no handler: nothing converts to it, so they are never chosen. A failed assertion could not tell such a
/// name from that of one function of a variadic template.
struct several_functions_have_this_name_so_use_a_lambda_that_calls_one {};

}  // namespace detail
}  // namespace nacre
