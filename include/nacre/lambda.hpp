// SPDX-License-Identifier: Apache-2.0
// Lambdas as handlers: stands in for the function pointer of a handler, and says what is wrong with a lambda.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include <nacre/archive/type_name.hpp>
#include <nacre/signature.hpp>

namespace nacre::detail {

/// The one closure of L: without captures all closures of L are alike. It is static, so a coroutine of L may refer to
/// it after the call.
template <class L>
inline constexpr L closure{};

/// Stands for a lambda on a rank, where a handler is named at compile time.
template <class L>
struct lambda_handler {
  using closure_type = L;
  template <class... Args>
  constexpr decltype(auto) operator()(Args&&... args) const {
    return closure<L>(std::forward<Args>(args)...);
  }
};
/// Stands for a lambda on an object, which takes the object as its first parameter.
template <class L>
struct object_lambda_handler {
  using closure_type = L;
  template <class... Args>
  constexpr decltype(auto) operator()(Args&&... args) const {
    return closure<L>(std::forward<Args>(args)...);
  }
};
/// Stands for what is no handler: the compiler has said why, and prints no further errors.
struct no_handler {};

template <class F>
concept stands_for_lambda = requires {
  typename F::closure_type;
};
template <class F>
inline constexpr bool is_object_lambda = false;
template <class L>
inline constexpr bool is_object_lambda<object_lambda_handler<L>> = true;

/// The function type of a call operator.
template <class Operator>
struct call_operator {
  static constexpr bool is_const = false;
  using function = void (*)();
};
template <class R, class L, class... P>
struct call_operator<R (L::*)(P...) const> {
  static constexpr bool is_const = true;
  using function = R (*)(P...);
};
template <class R, class L, class... P>
struct call_operator<R (L::*)(P...) const noexcept> : call_operator<R (L::*)(P...) const> {};

template <class L>
using lambda_function = typename call_operator<decltype(&L::operator())>::function;

/// Returns false when L cannot be a handler; the compiler's message gives the reason in one line.
template <class L>
consteval bool can_be_handler() {
  constexpr bool is_function = std::is_pointer_v<L> && std::is_function_v<std::remove_pointer_t<L>>;
  constexpr bool named = is_function || std::is_member_function_pointer_v<L>;
  static_assert(!named,
                "a named function stands before the parentheses, so that it has a name on every rank: write "
                "send<f>(target, 1) instead of send(target, f, 1)");
  static_assert(named || std::is_class_v<L>,
                "behind the target stands a lambda, as in send(target, [](int) {}, 1); a "
                "named function stands before the parentheses, as in send<f>(target, 1)");
  if constexpr (std::is_class_v<L>) {
    constexpr bool plain = std::is_empty_v<L> && std::is_default_constructible_v<L>;
    static_assert(plain,
                  "a lambda with captures cannot run on another rank: write [] and hand the values over as "
                  "arguments, as in send(target, [](int n) {}, n)");
    constexpr bool typed = requires { &L::operator(); };
    static_assert(typed || !plain,
                  "a lambda that is a handler names the types of its parameters: write int or "
                  "std::string instead of auto");
    if constexpr (plain && typed) {
      constexpr bool fixed = call_operator<decltype(&L::operator())>::is_const;
      static_assert(fixed, "a lambda that is a handler has no state that it could change: leave out mutable");
      return fixed;
    }
  }
  return false;
}

/// The handler that a send of the lambda L to a rank names.
template <class L>
consteval auto rank_lambda_of() {
  if constexpr (can_be_handler<L>()) {
    return lambda_handler<L>{};
  } else {
    return no_handler{};
  }
}
template <class L>
inline constexpr auto rank_lambda = rank_lambda_of<L>();

template <class Function>
inline constexpr bool takes_object_first = false;
template <class R, class T, class... P>
inline constexpr bool takes_object_first<R (*)(T&, P...)> = !std::is_same_v<std::remove_const_t<T>, context>;

template <class L>
consteval auto object_lambda_of() {
  if constexpr (can_be_handler<L>()) {
    constexpr bool object_first = takes_object_first<lambda_function<L>>;
    static_assert(object_first,
                  "a lambda on an object takes the object first: write [](cell& c, nacre::context& ctx, "
                  "int n), or const cell& to run beside others");
    if constexpr (object_first) {
      return object_lambda_handler<L>{};
    } else {
      return no_handler{};
    }
  } else {
    return no_handler{};
  }
}
template <class L>
inline constexpr auto object_lambda = object_lambda_of<L>();

template <class Function>
struct object_signature;
template <class R, class T, class... P>
struct object_signature<R (*)(T&, P...)> : split_context<P...> {
  using result = R;
  using target = std::remove_const_t<T>;
  static constexpr bool is_const = std::is_const_v<T>;
};

template <>
struct signature<no_handler> : argument_types<> {
  static constexpr bool possible = false;
  static constexpr bool takes_context = false;
  static constexpr bool is_const = false;
  using result = void;
  using target = void;
};
template <class L>
struct signature<lambda_handler<L>> : signature<lambda_function<L>> {};
template <class L>
struct signature<object_lambda_handler<L>> : object_signature<lambda_function<L>> {};

/// The name of a lambda for people, such as main()::<lambda(int)>; several lambdas may share it.
template <class L>
constexpr std::string_view lambda_name() noexcept {
  constexpr std::string_view whole = __PRETTY_FUNCTION__;
  return template_argument(whole, whole.find("L = ") + 4);
}

}  // namespace nacre::detail
