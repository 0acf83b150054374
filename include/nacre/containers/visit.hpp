// SPDX-License-Identifier: Apache-2.0
// Functions that visit elements: which arguments they take, and how they are called.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/lambda.hpp>
#include <nacre/runtime.hpp>

namespace nacre::detail {

/// The arguments behind the first `Skip` parameters, and behind a context before these.
template <std::size_t Skip, class... P>
struct parameters_behind {
  using type = std::tuple<>;
};
template <class First, class... P>
requires(!std::is_same_v<First, context&>) struct parameters_behind<0, First, P...> {
  using type = std::tuple<std::decay_t<First>, std::decay_t<P>...>;
};
template <std::size_t Skip, class First, class... P>
requires(Skip > 0 && !std::is_same_v<First, context&>) struct parameters_behind<Skip, First, P...>
    : parameters_behind<Skip - 1, P...> {
};
template <std::size_t Skip, class... P>
struct parameters_behind<Skip, context&, P...> : parameters_behind<Skip, P...> {};

template <std::size_t Skip, class F>
struct function_parameters;
template <std::size_t Skip, class R, class... P>
struct function_parameters<Skip, R (*)(P...)> : parameters_behind<Skip, P...> {};

template <class F>
concept names_parameters = requires {
  &F::operator();
};

/// The types of the arguments of a visit by the function F, which takes `Skip` parameters of the element first.
template <std::size_t Skip, class F, class... Args>
struct visit_arguments {
  using type = std::tuple<packed_argument<Args>...>;  // a generic lambda takes what it gets
};
template <std::size_t Skip, names_parameters F, class... Args>
struct visit_arguments<Skip, F, Args...> : function_parameters<Skip, lambda_function<F>> {};

/// Says what is wrong with a function of a visit, in one line.
template <class F>
consteval bool can_visit() {
  constexpr bool plain = std::is_class_v<F> && std::is_empty_v<F> && std::is_default_constructible_v<F>;
  static_assert(plain,
                "a function of visit runs where the key lives, so it is a lambda without captures: write [] and hand "
                "the values over behind it, as in visit(key, [](const K& key, V& value, int n) {}, n)");
  return plain;
}

/// Calls the visiting lambda F, with a context if it takes one.
template <class F, class... Args>
void call_visitor(context& ctx, Args&&... args) {
  if constexpr (std::is_invocable_v<const F&, context&, Args...>) {
    using result = std::invoke_result_t<const F&, context&, Args...>;
    static_assert(!task_value<result>::is_task,
                  "a function of visit must not wait, so it is no coroutine: send a handler from it, as in "
                  "ctx.send<&cell::step>(p, value)");
    closure<F>(ctx, std::forward<Args>(args)...);
  } else {
    constexpr bool fits = std::is_invocable_v<const F&, Args...>;
    static_assert(
        fits,
        "a function of visit takes the key, the value and the arguments behind it: [](const K& key, V& value, "
        "args...), or a nacre::context& before them");
    if constexpr (fits) closure<F>(std::forward<Args>(args)...);
  }
}

}  // namespace nacre::detail
