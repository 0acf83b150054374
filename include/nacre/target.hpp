// SPDX-License-Identifier: Apache-2.0
// Targets of messages, which stand in front of the arguments of send, call, reduce and after.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/address.hpp>
#include <nacre/array.hpp>
#include <nacre/core.hpp>
#include <nacre/group.hpp>
#include <nacre/ids.hpp>
#include <nacre/keyed_array.hpp>
#include <nacre/lambda.hpp>
#include <nacre/mobile_ptr.hpp>
#include <nacre/section.hpp>

namespace nacre::detail {

// The target trait: the address of what a program names. Overloads, so that classes that convert to a target, or are
// derived from one, are targets too.
constexpr rank_address address_of(rank_id target) noexcept { return {target}; }
constexpr all_ranks_address address_of(to_all_t) noexcept { return {}; }
template <class T>
constexpr object_address<T> address_of(mobile_ptr<T> target) noexcept {
  return {target.id()};
}
template <class T, class P>
array_address<T, P> address_of(const array_ptr<T, P>& target) noexcept {
  return {target.first()};
}
template <class T, class P>
section_address<T, P> address_of(const section<T, P>& target) noexcept {
  return {target.array().first(), target.parts()};
}
template <class T>
constexpr member_address<T> address_of(group_member<T> target) noexcept {
  return {target};
}
template <class T>
constexpr group_address<T> address_of(group_ptr<T> target) noexcept {
  return {target.number()};
}
template <class T, class K>
key_address<T, K> address_of(const keyed_element<T, K>& target) noexcept {
  return {target};
}

template <class Target>
struct address_type {
  using type = no_address;
};
template <class Target>
requires requires(const Target& target) { detail::address_of(target); }
struct address_type<Target> {
  using type = decltype(detail::address_of(std::declval<const Target&>()));
};
template <class Target>
using address = typename address_type<Target>::type;

template <class Target>
concept is_target = address<Target>::count != target_count::none;
/// A rank, or all ranks: runs free functions. All other targets run members of objects.
template <class Target>
concept is_rank_target = is_target<Target> && std::is_void_v<typename address<Target>::object>;
template <class Target>
concept is_object_target = is_target<Target> && !std::is_void_v<typename address<Target>::object>;
/// A message to the target runs several handlers.
template <class Target>
concept is_several = address<Target>::count == target_count::several;
/// A call to the target spreads over a tree of ranks.
template <class Target>
concept is_tree_target = is_several<Target> && requires {
  &address<Target>::asks_tree;
};
/// A reduction whose first argument is of this type and whose last one is a lambda runs the lambda as its handler:
/// there is no other reduction of such values.
template <class Target>
concept is_lambda_reduction = is_object_target<Target> || std::is_same_v<Target, to_all_t>;
/// The options, with{...}, which stand before the target.
template <class Target>
concept is_options = std::is_convertible_v<const Target&, with>;

/// The handler that a lambda behind a target stands for.
template <class Target, class L>
consteval auto lambda_on_target() {
  if constexpr (is_object_target<Target>) {
    return object_lambda<L>;
  } else if constexpr (is_rank_target<Target>) {
    return rank_lambda<L>;
  } else {
    return no_handler{};
  }
}
template <class Target, class L>
inline constexpr auto lambda_for = lambda_on_target<Target, L>();

/// The result of a call: that of the handler, but nothing where several handlers run.
template <target_count Count, auto F>
struct call_result {
  using type = result_of<F>;
};
template <auto F>
struct call_result<target_count::several, F> {
  using type = void;
};
template <class Target, auto F>
using answer = typename call_result<address<Target>::count, F>::type;

/// T, or the class that T points to, is the class of the member function F, or derived from it.
template <class T, auto F>
concept takes_function = std::is_base_of_v<typename traits<F>::target, std::remove_cv_t<std::remove_pointer_t<T>>>;

// The functions that follow do not compile; the compiler's message says why in one sentence.
/// For what is no target.
template <class Target, auto F>
constexpr void refuse_target() {
  static_assert(std::integral<Target> || takes_function<Target, F>,
                "a message goes to a rank_id, to to_all, a mobile_ptr, an array or its element grid[place], a section, "
                "a group or its member g[rank], or the element of a key: this is none of them");
}
template <class Target, auto F>
constexpr void refuse_send() {
  static_assert(!std::integral<Target>, "a rank is a nacre::rank_id: write send<f>(nacre::rank_id{1}, ...)");
  static_assert(!takes_function<Target, F>,
                "a mobile object is made by create<T>(), and reached by the nacre::mobile_ptr<T> that this returns: "
                "write send<&T::f>(pointer, ...); on an object of your own, call the function");
  refuse_target<Target, F>();
}
template <class Target, auto F>
constexpr void refuse_call() {
  static_assert(!std::integral<Target>, "a rank is a nacre::rank_id: write call<f>(nacre::rank_id{1}, ...)");
  static_assert(!takes_function<Target, F>,
                "a mobile object is made by create<T>(), and reached by the nacre::mobile_ptr<T> that this returns: "
                "write call<&T::f>(pointer, ...); on an object of your own, call the function");
  refuse_target<Target, F>();
}
template <class Target, auto F>
constexpr void refuse_after() {
  static_assert(!std::integral<Target>, "a rank is a nacre::rank_id: write after<f>(seconds, nacre::rank_id{1}, ...)");
  static_assert(!takes_function<Target, F>,
                "a mobile object is made by create<T>(), and reached by the nacre::mobile_ptr<T> that this returns: "
                "write after<&T::f>(seconds, pointer, ...); in a handler of the object the pointer is ctx.self<T>()");
  refuse_target<Target, F>();
}
/// Does not compile unless F and Op may reduce over the target.
template <class Target, auto F, class Op>
constexpr void check_reduction() {
  constexpr bool has_results = !std::is_void_v<result_of<F>>;
  static_assert(is_several<Target>,
                "a reduction combines the results of several handlers: of to_all, an array, a section or a group; of "
                "another target, call gives the one result");
  static_assert(has_results || is_tree_target<Target>,
                "a reduction needs results: use call, which waits for all elements");
  static_assert(has_results || !is_tree_target<Target>,
                "a reduction needs results: use call, which waits for all objects");
  static_assert(std::is_empty_v<Op> && std::is_default_constructible_v<Op>,
                "the operation of a reduction runs on every rank, so it has no members and no captures");
}

/// Stands for the target of an `after` that names none: the handler runs on the calling rank.
struct this_rank {};
/// Whether the first argument of after<F> is its target. For a member F it always is. For a function F it is, if it is
/// a rank and there is one argument more than F has parameters.
template <auto F, class... Args>
inline constexpr bool has_target_first = !std::is_void_v<typename traits<F>::target>;
template <auto F, class First, class... Rest>
requires std::is_void_v<typename traits<F>::target>
inline constexpr bool has_target_first<F, First, Rest...> =
    is_rank_target<std::remove_cvref_t<First>> && sizeof...(Rest) == traits<F>::count;

/// Sends F to a target from a rank that the message has reached after a delay; see message_operations::after.
template <auto F, class Named, class Values>
struct deferred_send;
template <auto F, class Named, class... Values>
struct deferred_send<F, Named, std::tuple<Values...>> {
  static void run(context& ctx, nacre::category category, nacre::channel channel, Named target, Values... arguments);
};

/// The ranks of a tree whose first one asks the others, and the options of the messages that run the handler.
struct rank_range {
  std::uint32_t first = 0, last = 0;
  nacre::category category = nacre::category::worker;
  nacre::channel channel = nacre::channel::application;
};
/// Runs the handler F of ranks on all of them, down a tree, and combines the results by Op; Op is void where the
/// results are dropped.
template <auto F, class Op, class Values>
struct rank_tree;
template <auto F, class Op, class... Values>
struct rank_tree<F, Op, std::tuple<Values...>> {
  using result = typename call_result<std::is_void_v<Op> ? target_count::several : target_count::one, F>::type;
  static task<result> run(context& ctx, rank_range ranks, Values... arguments);
};

}  // namespace nacre::detail
