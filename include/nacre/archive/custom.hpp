// SPDX-License-Identifier: Apache-2.0
// How a class declares the members to pack: serialize, or save and load, as members or free functions.
#pragma once

#include <type_traits>

namespace nacre {

class writer;
class sizer;
class reader;

/// A type without a default constructor may offer `explicit T(nacre::deserialize_tag)`. That constructor makes any
/// valid object; `serialize` or `load` then overwrites it.
struct deserialize_tag {
  explicit deserialize_tag() = default;
};

/// `friend class nacre::archive_access;` lets archives call private `serialize`, `save` and `load` members.
class archive_access {
 public:
  template <class Archive, class T>
  static auto serialize(Archive& ar, T& value) -> decltype(void(value.serialize(ar))) {
    value.serialize(ar);
  }
  template <class Archive, class T>
  static auto save(Archive& ar, const T& value) -> decltype(void(value.save(ar))) {
    value.save(ar);
  }
  template <class Archive, class T>
  static auto load(Archive& ar, T& value) -> decltype(void(value.load(ar))) {
    value.load(ar);
  }
};

namespace detail {

template <class T, class Ar>
concept member_serialize = requires(T& value, Ar& ar) {
  archive_access::serialize(ar, value);
};
template <class T, class Ar>
concept member_save = requires(const T& value, Ar& ar) {
  archive_access::save(ar, value);
};
template <class T, class Ar>
concept member_load = requires(T& value, Ar& ar) {
  archive_access::load(ar, value);
};
template <class T, class Ar>
concept free_serialize = requires(T& value, Ar& ar) {
  serialize(ar, value);
};
template <class T, class Ar>
concept free_save = requires(const T& value, Ar& ar) {
  save(ar, value);
};
template <class T, class Ar>
concept free_load = requires(T& value, Ar& ar) {
  load(ar, value);
};

template <class T>
concept user_definable = std::is_class_v<T> || std::is_union_v<T> || std::is_enum_v<T>;

template <class T, class Ar>
concept custom_save = user_definable<T> &&
    (member_serialize<T, Ar> || member_save<T, Ar> || free_serialize<T, Ar> || free_save<T, Ar>);
template <class T, class Ar>
concept custom_load = user_definable<T> &&
    (member_serialize<T, Ar> || member_load<T, Ar> || free_serialize<T, Ar> || free_load<T, Ar>);

struct serialize_name {
  int serialize;
};
template <class T>
struct name_probe : T, serialize_name {};
/// T has a member called serialize that an archive cannot call: it is private without the friend declaration, or has
/// other parameters. Such a class must not be packed as its bytes.
template <class T>
concept hides_serialize = std::is_class_v<T> && !std::is_final_v<T> && !requires {
  &name_probe<T>::serialize;  // ambiguous when T has the name too, with any access
};

/// The user defines how T is packed. Both halves are demanded later, so that a forgotten `load` is a compile-time
/// error.
template <class T>
concept custom = custom_save<T, writer> || custom_load<T, reader>;

}  // namespace detail
}  // namespace nacre
