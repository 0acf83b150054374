// SPDX-License-Identifier: Apache-2.0
// Functions that run on several mobile objects at once: which of their parameters are objects, and how they are run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/handler.hpp>
#include <nacre/mobile_ptr.hpp>

namespace nacre::detail {

/// The classes that a function of colocate wants its objects to be of, as object_type::key names them.
struct together_shape {
  std::span<const void* const> keys;
};
inline constexpr std::size_t together_max = 16;

template <class... Params>
struct param_list {};
template <class F>
struct free_function {
  static constexpr bool is = false;
};
template <class R, class... P>
struct free_function<R (*)(P...)> {
  static constexpr bool is = true;
  static constexpr bool takes_context = false;
  using result = R;
  using params = param_list<P...>;
};
template <class R, class... P>
struct free_function<R (*)(context&, P...)> : free_function<R (*)(P...)> {
  static constexpr bool takes_context = true;
};
template <class R, class... P>
struct free_function<R (*)(P...) noexcept> : free_function<R (*)(P...)> {};

template <class T>
struct pointee {};
template <class T>
struct pointee<mobile_ptr<T>> {
  using type = T;
};

/// Whether an argument names the object that a parameter refers to.
template <class Param, class Arg>
consteval bool names_object() {
  if constexpr (is_a<std::remove_cvref_t<Arg>, mobile_ptr>) {
    using object = typename pointee<std::remove_cvref_t<Arg>>::type;
    return std::is_lvalue_reference_v<Param> && std::is_base_of_v<std::remove_cvref_t<Param>, object>;
  } else {
    return false;
  }
}

/// How many of the leading arguments are objects.
template <class... P, class... A>
consteval std::size_t count_objects(param_list<P...>, param_list<A...>) {
  static_assert(sizeof...(P) == sizeof...(A), "the function of colocate takes another number of objects and arguments");
  constexpr bool named[] = {names_object<P, A>()...};
  std::size_t count = 0;
  while (count < sizeof...(P) && named[count]) ++count;
  return count;
}

/// F on objects of the classes T..., with the parameters P... behind them.
template <auto F, class Objects, class Rest>
struct together;
template <auto F, class... T, class... P>
struct together<F, param_list<T...>, param_list<P...>> {
  using values = typename argument_types<P...>::values;
  using views = typename argument_types<P...>::views;
  static constexpr const void* keys[] = {key_of<T>()...};
  static constexpr together_shape shape{keys};
  /// Runs F for one packed message; `target` is an array of pointers to the objects. Defined in invoke.hpp.
  static outcome invoke(engine& core, thread_context& on, message_ptr& m, void* target, handler_id self);
  static inline handler_info row{
      body_of<values>::ops, &invoke, name_of<F>(), key_of<together_shape>(), false, false, &shape};
  static inline const handler_registration enlisted{row};

  template <class... Args>
  static message_ptr make(Args&&... args) {
    message_ptr m;
    if constexpr (argument_types<P...>::possible) {
      static_cast<void>(&enlisted);
      m = make_packed<views, values>(std::forward<Args>(args)...);
      m->header.handler = row.id.value();
    }
    return m;
  }
};

/// Splits parameter and argument lists behind the objects.
template <std::size_t Count, class Taken, class List>
struct split_list;
template <class... T, class List>
struct split_list<0, param_list<T...>, List> {
  using first = param_list<T...>;
  using rest = List;
};
template <std::size_t Count, class... T, class Head, class... Tail>
requires(Count != 0) struct split_list<Count, param_list<T...>, param_list<Head, Tail...>>
    : split_list<Count - 1, param_list<T..., Head>, param_list<Tail...>> {
};

template <class List>
struct pointees;
template <class... A>
struct pointees<param_list<A...>> {
  using type = param_list<typename pointee<std::remove_cvref_t<A>>::type...>;
};

/// What colocate<F>(args...) means.
template <auto F, class... Args>
struct colocation_of {
  using function = free_function<decltype(F)>;
  static_assert(function::is, "colocate runs a free function: void merge(nacre::context&, cell& a, cell& b, int how)");
  using result = typename function::result;
  static_assert(!task_value<result>::is_task, "a function of colocate is no coroutine: it would keep all its objects");
  static constexpr std::size_t count = count_objects(typename function::params{}, param_list<Args...>{});
  static_assert(count >= 2,
                "colocate wants mobile pointers to 2 objects or more, and a function with references to them");
  static_assert(count <= together_max, "colocate brings at most 16 objects together");
  using named = split_list<count, param_list<>, param_list<Args...>>;
  using shape = together<F, typename pointees<typename named::first>::type,
                         typename split_list<count, param_list<>, typename function::params>::rest>;
};

}  // namespace nacre::detail
