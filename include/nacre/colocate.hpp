// SPDX-License-Identifier: Apache-2.0
// Functions that run on several mobile objects at once: finds the parameters that are objects, and runs the function.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/handler.hpp>
#include <nacre/mobile_ptr.hpp>

namespace nacre::detail {

inline constexpr std::size_t colocation_max = 16;
inline constexpr std::size_t colocation_list_max = 1024;

/// The classes that the objects of a colocated function must have, as values of object_type::key.
struct colocation_shape {
  std::span<const void* const> own_keys;  ///< as handler_info::own_key
  std::span<const void*> keys;            ///< as those of object types, once the function has a number
  bool takes_list = false;                ///< any number of objects, all of the one class

  [[nodiscard]] bool takes(std::size_t count) const noexcept {
    return takes_list ? count >= 1 && count <= colocation_list_max : count == keys.size();
  }
  /// The class of the object of that index.
  [[nodiscard]] const void* key_at(std::size_t index) const noexcept { return keys[takes_list ? 0 : index]; }
};

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
template <class L>
struct free_function<lambda_handler<L>> : free_function<lambda_function<L>> {};

template <class T>
struct pointee {};
template <class T>
struct pointee<mobile_ptr<T>> {
  using type = T;
};

/// The class of the objects of a list: a vector, array or span of mobile pointers.
template <class List>
struct listed {};
template <class List>
requires(std::ranges::contiguous_range<const List>&&
             is_a<std::ranges::range_value_t<const List>, mobile_ptr>) struct listed<List>
    : pointee<std::ranges::range_value_t<const List>> {
};
template <class Arg>
concept object_list = requires {
  typename listed<std::remove_cvref_t<Arg>>::type;
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

/// Returns how many of the leading arguments are objects.
template <class... P, class... A>
consteval std::size_t count_objects(param_list<P...>, param_list<A...>) {
  static_assert(sizeof...(P) == sizeof...(A), "the function of colocate takes another number of objects and arguments");
  constexpr bool named[] = {names_object<P, A>()...};
  std::size_t count = 0;
  while (count < sizeof...(P) && named[count]) ++count;
  return count;
}

/// The handler row of F, which takes objects of the classes T... and then the parameters P...
template <auto F, class Objects, class Rest>
struct colocated_function;
template <auto F, class... T, class... P>
struct colocated_function<F, param_list<T...>, param_list<P...>> {
  using values = typename argument_types<P...>::values;
  using views = typename argument_types<P...>::views;
  static constexpr bool possible = argument_types<P...>::possible;
  static constexpr const void* own_keys[] = {key_of<T>()...};
  static inline const void* keys[] = {key_of<T>()...};
  static constexpr colocation_shape shape{own_keys, keys};
  /// Runs F for one packed message; `target` is a std::span<void* const> of the objects. Defined in invoke.hpp.
  static outcome invoke(engine& core, thread_context& thread, message_ptr& m, void* target, handler_id self);
  static inline handler_info row{body_of<values>::ops,
                                 &invoke,
                                 name_of<F>(),
                                 key_of<colocation_shape>(),
                                 false,
                                 false,
                                 &shape,
                                 handler_id{},
                                 &typeid(handler_identity<F, T..., P...>),
                                 nullptr,
                                 nullptr,
                                 holds_addresses<values>};
  static inline const handler_registration enlisted{row};
};

/// The handler row of F, which takes a list of objects of the class T and then the parameters P...
template <auto F, class T, class Rest>
struct colocated_list;
template <auto F, class T, class... P>
struct colocated_list<F, T, param_list<P...>> {
  using values = typename argument_types<P...>::values;
  using views = typename argument_types<P...>::views;
  static constexpr bool possible = argument_types<P...>::possible;
  static constexpr const void* own_keys[] = {key_of<T>()};
  static inline const void* keys[] = {key_of<T>()};
  static constexpr colocation_shape shape{own_keys, keys, true};
  /// Runs F for one packed message; `target` is a std::span<void* const> of the objects. Defined in invoke.hpp.
  static outcome invoke(engine& core, thread_context& thread, message_ptr& m, void* target, handler_id self);
  static inline handler_info row{body_of<values>::ops,
                                 &invoke,
                                 name_of<F>(),
                                 key_of<colocation_shape>(),
                                 false,
                                 false,
                                 &shape,
                                 handler_id{},
                                 &typeid(handler_identity<F, std::span<T* const>, P...>),
                                 nullptr,
                                 nullptr,
                                 holds_addresses<values>};
  static inline const handler_registration enlisted{row};
};

/// A message with the packed arguments of a colocated function.
template <class Function, class... Args>
message_ptr make_colocation(Args&&... args) {
  message_ptr m;
  if constexpr (Function::possible) {
    static_cast<void>(&Function::enlisted);
    m = make_packed<typename Function::views, typename Function::values>(std::forward<Args>(args)...);
    m->header.handler = Function::row.id.value();
  }
  return m;
}

/// Splits a parameter or argument list behind its first `Count` entries.
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

/// Returns how many mobile pointers, or lists of them, stand before the lambda of colocate(p, q, lambda, args...).
template <class... A>
consteval std::size_t objects_before_lambda() {
  constexpr bool pointers[] = {(is_a<std::remove_cvref_t<A>, mobile_ptr> || object_list<A>)...};
  std::size_t count = 0;
  while (count < sizeof...(A) && pointers[count]) ++count;
  return count;
}

/// The compile-time data of colocate<F>(args...): checks the types, and selects the row.
template <auto F, class... Args>
struct colocation_of {
  using function = free_function<std::remove_const_t<decltype(F)>>;
  static_assert(function::is, "colocate runs a free function: void merge(nacre::context&, cell& a, cell& b, int how)");
  using result = typename function::result;
  static_assert(!task_value<result>::is_task, "a function of colocate is no coroutine: it would keep all its objects");
  static constexpr std::size_t count = count_objects(typename function::params{}, param_list<Args...>{});
  static_assert(count >= 2,
                "colocate wants mobile pointers to 2 objects or more, and a function with references to them");
  static_assert(count <= colocation_max, "colocate brings at most 16 objects together");
  using named = split_list<count, param_list<>, param_list<Args...>>;
  using shape = colocated_function<F, typename pointees<typename named::first>::type,
                                   typename split_list<count, param_list<>, typename function::params>::rest>;
  template <class... All>
  static std::array<object_id, count> ids(const All&... args) {
    const std::tuple<const All&...> all(args...);
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return std::array<object_id, count>{std::get<Index>(all).id()...};
    }
    (std::make_index_sequence<count>());
  }
};

/// The function of a list without that parameter.
template <class Params>
struct listed_function {
  static constexpr bool is = false;
};
template <class T, class... P>
struct listed_function<param_list<std::span<T* const>, P...>> {
  static constexpr bool is = true;
  using object = T;
  using rest = param_list<P...>;
};

/// Compile-time data of colocate<F>(objects, args...), for objects whose number is known at run time only.
template <auto F, object_list List, class... Args>
struct colocation_of<F, List, Args...> {
  using function = free_function<std::remove_const_t<decltype(F)>>;
  static_assert(function::is, "colocate runs a free function: void level(nacre::context&, std::span<cell* const>)");
  using result = typename function::result;
  static_assert(!task_value<result>::is_task, "a function of colocate is no coroutine: it would keep all its objects");
  using parts = listed_function<typename function::params>;
  static_assert(parts::is && std::is_same_v<typename parts::object, typename listed<List>::type>,
                "a function of colocate takes a list of mobile_ptr<cell> as a std::span<cell* const>");
  static constexpr std::size_t count = 1;
  using shape = colocated_list<F, typename parts::object, typename parts::rest>;
  template <class... All>
  static std::vector<object_id> ids(const List& objects, const All&...) {
    std::vector<object_id> all;
    for (const auto& each : objects) all.push_back(each.id());
    return all;
  }
};

/// Calls `body` with the type of the lambda among `args` and with all other arguments.
template <class Body, class... Args>
decltype(auto) split_at_lambda(Body&& body, Args&&... args) {
  constexpr std::size_t index = objects_before_lambda<Args...>();
  static_assert(index < sizeof...(Args),
                "colocate wants a function, as in colocate<merge>(p, q), or a lambda behind the "
                "objects, as in colocate(p, q, [](cell& a, cell& b) {})");
  if constexpr (index < sizeof...(Args)) {
    std::tuple<Args&&...> all(std::forward<Args>(args)...);
    using lambda = std::decay_t<std::tuple_element_t<index, std::tuple<Args...>>>;
    return [&]<std::size_t... Index>(std::index_sequence<Index...>)->decltype(auto) {
      return body(std::type_identity<lambda>{}, std::get < Index < index ? Index : Index + 1 > (std::move(all))...);
    }
    (std::make_index_sequence<sizeof...(Args) - 1>());
  }
}
template <auto F, class... Args>
message_ptr colocation_message(Args&... args) {
  using colocation = colocation_of<F, std::decay_t<Args>...>;
  const std::tuple<Args&...> all(args...);
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    return make_colocation<typename colocation::shape>(std::get<colocation::count + Index>(all)...);
  }
  (std::make_index_sequence<sizeof...(Args) - colocation::count>());
}

}  // namespace nacre::detail
