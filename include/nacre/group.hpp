// SPDX-License-Identifier: Apache-2.0
// Groups, one object on every rank that never moves: the handle, and how a handler finds the object of its rank.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/archive/held_addresses.hpp>
#include <nacre/error.hpp>
#include <nacre/handler.hpp>
#include <nacre/ids.hpp>
#include <nacre/mobile_ptr.hpp>

namespace nacre {

/// Names the object of a group on one rank: a value, trivially copyable, comparable, serializable.
template <class T>
class group_member {
 public:
  group_member() = default;
  /// For the runtime: see group_ptr.
  group_member(std::uint32_t group, rank_id rank) noexcept : group_(group), rank_(rank) {}
  [[nodiscard]] rank_id rank() const noexcept { return rank_; }
  /// For the runtime: a number that differs between the groups of a job.
  [[nodiscard]] std::uint32_t group() const noexcept { return group_; }
  friend bool operator==(const group_member&, const group_member&) = default;
  friend auto operator<=>(const group_member&, const group_member&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(group_, rank_);
  }

 private:
  std::uint32_t group_ = 0;
  rank_id rank_;
};

/// Names a group on every rank: a value of 4 bytes, trivially copyable, comparable, hashable, serializable, so that
/// messages may carry it. It has no number of ranks: a group has an object on each rank of the job that uses the
/// handle. It keeps nothing alive: runtime::destroy ends the group, else the job's end does.
template <class T>
class group_ptr {
 public:
  group_ptr() = default;
  /// For the runtime: see runtime::create_group.
  explicit group_ptr(std::uint32_t number) noexcept : number_(number) {}

  /// The object on the rank `rank`. Throws usage_error when the handle names no group; sending to it throws usage_error
  /// when the job has no such rank.
  [[nodiscard]] group_member<T> operator[](rank_id rank) const {
    if (number_ == 0) {
      throw usage_error("a group_ptr that names no group: take the one that rt.create_group<T>() returns");
    }
    return group_member<T>(number_, rank);
  }
  /// For the runtime: a number that differs between the groups of a job.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ != 0; }
  friend bool operator==(const group_ptr&, const group_ptr&) = default;
  friend auto operator<=>(const group_ptr&, const group_ptr&) = default;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number_);
  }

 private:
  std::uint32_t number_ = 0;  // groups are numbered from 1 in the order of their making, and no number is used again
};

namespace detail {

/// The class of a group's objects, for callers that do not know it.
struct group_type {
  std::string_view name;
  const void* key;  ///< key_of<T>
  void (*destroy)(void*) noexcept;
  // For images; null where the class cannot do it.
  void (*save)(void*, writer&);
  void* (*load)(reader&);                             ///< null when the bytes are not such an object
  void (*restored)(engine&, thread_context&, void*);  ///< called on every rank when all members of all groups are there
  void* (*make)();                                    ///< for a rank that the job did not have when the image was taken
  void (*merge)(void*, void*);                        ///< the second is that of a rank that the job no longer has
};

/// Whether an image can hold the members of a group: T may be made by T() and packed, and has no addresses inside.
template <class T>
inline constexpr bool is_saved_in_groups = std::is_default_constructible_v<T>&& serializable<T> && !holds_addresses<T>;
template <class T>
concept merges = requires(T& member, T& gone) {
  member.merge(static_cast<T&&>(gone));
};
template <class T>
concept wants_to_know_of_restore = requires(engine& core, thread_context& thread, T& member) {
  after_restore(core, thread, member);
};

template <class T>
struct group_functions {
  static void destroy(void* member) noexcept { delete static_cast<T*>(member); }
  static void save(void* member, writer& out) {
    if constexpr (is_saved_in_groups<T>) out(*static_cast<T*>(member));
  }
  static void* load(reader& in) {
    if constexpr (is_saved_in_groups<T>) {
      auto member = std::make_unique<T>();
      in(*member);
      return in.ok() ? member.release() : nullptr;
    } else {
      return nullptr;
    }
  }
  static void* make() {
    if constexpr (is_saved_in_groups<T>) return new T();
    return nullptr;
  }
  static void merge(void* member, void* gone) {
    if constexpr (merges<T>) static_cast<T*>(member)->merge(static_cast<T&&>(*static_cast<T*>(gone)));
  }
  static void restored(engine& core, thread_context& thread, void* member) {
    if constexpr (wants_to_know_of_restore<T>) after_restore(core, thread, *static_cast<T*>(member));
  }
};
template <class T>
inline constexpr group_type group_type_of{type_name<T>(),
                                          key_of<T>(),
                                          &group_functions<T>::destroy,
                                          is_saved_in_groups<T> ? &group_functions<T>::save : nullptr,
                                          is_saved_in_groups<T> ? &group_functions<T>::load : nullptr,
                                          wants_to_know_of_restore<T> ? &group_functions<T>::restored : nullptr,
                                          is_saved_in_groups<T> ? &group_functions<T>::make : nullptr,
                                          merges<T> ? &group_functions<T>::merge : nullptr};

// The untyped operations; src/runtime/api/groups.cpp.
/// Collective: `make` makes this rank's object, which the group owns. Throws on every rank when it throws on one.
[[nodiscard]] std::uint32_t make_group(engine& core, thread_context& thread, const group_type& type,
                                       const std::function<void*()>& make);
/// Collective.
void destroy_group(engine& core, thread_context& thread, std::uint32_t number, const group_type& type);
/// This rank's object. Wait-free, in a time that does not depend on the number of groups. Throws usage_error.
[[nodiscard]] void* local_member(engine& core, std::uint32_t number, const group_type& type);
[[nodiscard]] engine& engine_of(const context& ctx) noexcept;

template <auto F, class T, class Tuple>
decltype(auto) call_handler(context& ctx, void* target, Tuple&& arguments);

/// A handler on ranks that runs F on the object of a group; F is a member function or stands for a lambda.
template <auto F, class T>
struct member_handler {
  static constexpr auto handled = F;
  template <class... Args>
  decltype(auto) operator()(context& ctx, std::uint32_t group, Args&&... args) const {
    void* const member = local_member(engine_of(ctx), group, group_type_of<T>);
    return call_handler<F, T>(ctx, member, std::forward_as_tuple(std::forward<Args>(args)...));
  }
};

template <class First, class Tuple>
struct prepended;
template <class First, class... Rest>
struct prepended<First, std::tuple<Rest...>> {
  using type = std::tuple<First, Rest...>;
};

template <auto F, class T>
struct signature<member_handler<F, T>> {
  static constexpr bool on_member = std::is_base_of_v<typename traits<F>::target, T>;
  static_assert(on_member || !traits<F>::possible,
                "F is no member function of the group's class, or the lambda takes an object of another class");
  static constexpr bool possible = traits<F>::possible && on_member;
  static constexpr bool takes_context = true;
  static constexpr bool is_const = false;
  static constexpr bool all_by_value = traits<F>::all_by_value;
  static constexpr std::size_t count = traits<F>::count + 1;
  using values = typename prepended<std::uint32_t, typename traits<F>::values>::type;
  using views = typename prepended<std::uint32_t, typename traits<F>::views>::type;
  using result = typename traits<F>::result;
  using target = void;
};

}  // namespace detail
}  // namespace nacre

template <class T>
struct std::hash<nacre::group_ptr<T>> {
  std::size_t operator()(const nacre::group_ptr<T>& g) const noexcept { return std::hash<std::uint32_t>{}(g.number()); }
};
