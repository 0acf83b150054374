// SPDX-License-Identifier: Apache-2.0
// The table row of a class of mobile objects: its name, and the operations on its objects.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/archive/held_addresses.hpp>
#include <nacre/archive/type_name.hpp>
#include <nacre/handler.hpp>
#include <nacre/ids.hpp>
#include <nacre/location.hpp>

namespace nacre::detail {

/// The operations on objects of one type, for callers that do not know the class. It lives and is numbered as the rows
/// of handlers are.
struct object_type {
  std::string_view name;
  void (*destroy)(void*) noexcept;
  void (*count)(void*, sizer&);
  void (*pack)(void*, writer&);
  void* (*unpack)(reader&);                 ///< null when the bytes are not such an object
  double (*load)(const void*);              ///< null when the type declares none
  const void* key;                          ///< identifies the class; equal to the handlers' target_key
  bool (*may_migrate)(const void*);         ///< null when the type never refuses
  bool (*equal)(const void*, const void*);  ///< null when the type has no ==
  location_policy location;                 ///< the policy that the type declares, else of_program
  double (*priority)(const void*);          ///< null when the type declares none
  void* (*make)();                          ///< an object as its default constructor makes it
  bool (*may_save)(const void*);            ///< null when the type says nothing about images
  double (*migration_cost)(const void*);    ///< null when the type declares none
  type_id id{};
  const std::type_info* identity = nullptr;  ///< differs between classes of one name
  object_type* next = nullptr;
  bool has_addresses = false;     ///< holds_addresses
  const void* own_key = nullptr;  ///< as handler_info::own_key

  [[nodiscard]] std::size_t packed_size(void* object) const {
    sizer size;
    count(object, size);
    return size.size();
  }
};

class type_registration {
 public:
  explicit type_registration(object_type& row) noexcept;
  type_registration(const type_registration&) = delete;
  type_registration& operator=(const type_registration&) = delete;
  ~type_registration();

 private:
  object_type& row_;
};

template <class T>
concept declares_load = requires(const T& object) {
  { object.load() } -> std::convertible_to<double>;
};

template <class T>
concept declares_priority = requires(const T& object) {
  { object.priority() } -> std::convertible_to<double>;
};

template <class T>
concept declares_migration_cost = requires(const T& object) {
  { object.migration_cost() } -> std::convertible_to<double>;
};

template <class T>
concept declares_may_migrate = requires(const T& object) {
  { object.may_migrate() } -> std::convertible_to<bool>;
};

template <class T>
concept declares_may_save = requires(const T& object) {
  { object.may_save() } -> std::convertible_to<bool>;
};

template <class T>
struct type_operations {
  static void destroy(void* object) noexcept { delete static_cast<T*>(object); }
  static void count(void* object, sizer& sizer) { sizer(*static_cast<T*>(object)); }
  static void pack(void* object, writer& out) { out(*static_cast<T*>(object)); }
  static void* unpack(reader& in) {
    auto object = std::make_unique<T>();
    in(*object);
    return in.ok() ? object.release() : nullptr;
  }
  static double load(const void* object) {
    if constexpr (declares_load<T>) return static_cast<double>(static_cast<const T*>(object)->load());
    return 0;
  }
  static double priority(const void* object) {
    if constexpr (declares_priority<T>) return static_cast<double>(static_cast<const T*>(object)->priority());
    return 0;
  }
  static double migration_cost(const void* object) {
    if constexpr (declares_migration_cost<T>)
      return static_cast<double>(static_cast<const T*>(object)->migration_cost());
    return 0;
  }
  static bool may_migrate(const void* object) {
    if constexpr (declares_may_migrate<T>) return static_cast<const T*>(object)->may_migrate();
    return true;
  }
  static void* make() { return new T(); }
  static bool may_save(const void* object) {
    if constexpr (declares_may_save<T>) return static_cast<const T*>(object)->may_save();
    return true;
  }
  static bool equal(const void* a, const void* b) {
    if constexpr (std::equality_comparable<T>) return *static_cast<const T*>(a) == *static_cast<const T*>(b);
    return true;
  }
};

template <class T>
inline object_type type_row{type_name<T>(),
                            &type_operations<T>::destroy,
                            &type_operations<T>::count,
                            &type_operations<T>::pack,
                            &type_operations<T>::unpack,
                            declares_load<T> ? &type_operations<T>::load : nullptr,
                            key_of<T>(),
                            declares_may_migrate<T> ? &type_operations<T>::may_migrate : nullptr,
                            std::equality_comparable<T> ? &type_operations<T>::equal : nullptr,
                            location_of<T>(),
                            declares_priority<T> ? &type_operations<T>::priority : nullptr,
                            &type_operations<T>::make,
                            declares_may_save<T> ? &type_operations<T>::may_save : nullptr,
                            declares_migration_cost<T> ? &type_operations<T>::migration_cost : nullptr,
                            type_id{},
                            &typeid(T),
                            nullptr,
                            holds_addresses<T>};
template <class T>
inline const type_registration type_enlisted{type_row<T>};

template <class T>
const object_type& type_of() noexcept {
  static_assert(
      std::is_default_constructible_v<T>,
      "nacre: the class T of a mobile object needs a default constructor, as it is made empty on the rank that "
      "it moves to: write `T() = default;` in it");
  static_assert(serializable<T>,
                "nacre: the class T of a mobile object cannot be packed, so it could not move: write `template <class "
                "Archive> void serialize(Archive& ar) { ar(every, member); }` in it");
  static_cast<void>(&type_enlisted<T>);
  return type_row<T>;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
/// Makes a T from the arguments, which are those of a constructor or of its first members.
template <class T, class... Args>
T make_aggregate_or_object(Args&&... args) {
  if constexpr (std::is_constructible_v<T, Args...>) {
    return T(std::forward<Args>(args)...);
  } else {
    return T{std::forward<Args>(args)...};
  }
}
#pragma GCC diagnostic pop
/// Makes it where it stays: T may be one that cannot be moved.
template <class T, class... Args>
std::unique_ptr<T> make_object(Args&&... args) {
  return std::unique_ptr<T>(new T(make_aggregate_or_object<T>(std::forward<Args>(args)...)));
}

}  // namespace nacre::detail
