// SPDX-License-Identifier: Apache-2.0
// The name of a mobile object, valid on every rank.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>

#include <nacre/ids.hpp>
#include <nacre/object_type.hpp>

namespace nacre {

/// Names one mobile object on whichever rank it is: a value of 8 bytes, trivially copyable, comparable, hashable,
/// serializable. It does not keep the object alive; a message to a destroyed object is reported to the sender's error
/// handler (runtime::on_delivery_error).
template <class T>
class mobile_ptr {
 public:
  mobile_ptr() = default;
  explicit mobile_ptr(object_id id) noexcept : id_(id) {}
  [[nodiscard]] object_id id() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_.valid(); }
  friend auto operator<=>(mobile_ptr, mobile_ptr) = default;
  friend bool operator==(mobile_ptr, mobile_ptr) = default;

 private:
  object_id id_;
};

}  // namespace nacre

template <class T>
struct std::hash<nacre::mobile_ptr<T>> {
  std::size_t operator()(nacre::mobile_ptr<T> p) const noexcept { return std::hash<nacre::object_id>{}(p.id()); }
};
