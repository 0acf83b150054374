// SPDX-License-Identifier: Apache-2.0
// Rows by name, as handlers have, for the arrays, groups and containers of an image that a process makes again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include <nacre/array.hpp>
#include <nacre/group.hpp>
#include <nacre/operation_buffers.hpp>

namespace nacre::detail {

/// An array class with its placement. Rows are link-time data; a process lists those that it mentions.
struct array_row {
  std::string_view name;  ///< mangled, so that it differs between classes of one readable name
  const object_type* type;
  home_function home;
  list_function list;
  array_row* next = nullptr;
};
/// A class of groups.
struct group_row {
  std::string_view name;  ///< mangled
  const group_type* type;
  group_row* next = nullptr;
};

/// A function without captures that chooses the homes of keys: key_home<K>, which knows the type of `call`.
struct home_row {
  std::string_view name;  ///< mangled
  void (*call)();
  home_row* next = nullptr;
};

/// A class of parts of containers.
struct container_row {
  std::string_view name;  ///< container_part::name
  std::unique_ptr<container_part> (*make)(std::uint32_t stripes);
  container_row* next = nullptr;
};

// src/am/image_rows.cpp. Any thread; rows come and go with the libraries that hold them.
void list_row(array_row& row) noexcept;
void list_row(group_row& row) noexcept;
void list_row(home_row& row) noexcept;
void list_row(container_row& row) noexcept;
void unlist_row(array_row& row) noexcept;
void unlist_row(group_row& row) noexcept;
void unlist_row(home_row& row) noexcept;
void unlist_row(container_row& row) noexcept;
/// The name of a row in an image. Classes of namespaces without a name may have one name in several files of a program;
/// their rows are told apart by their order. Empty: there is no such row.
[[nodiscard]] std::string image_name_of(const group_type& type);
[[nodiscard]] std::string image_name_of(const array_layout& layout);
[[nodiscard]] std::string image_name_of(const home_row& row);
/// By the name in an image. Null: the process mentions no such class.
[[nodiscard]] const array_row* find_array_row(std::string_view name) noexcept;
[[nodiscard]] const group_row* find_group_row(std::string_view name) noexcept;
[[nodiscard]] const home_row* find_home_row(std::string_view name) noexcept;
[[nodiscard]] const container_row* find_container_row(std::string_view name) noexcept;

template <class Row>
class image_registration {
 public:
  explicit image_registration(Row& row) noexcept : row_(row) { list_row(row); }
  image_registration(const image_registration&) = delete;
  image_registration& operator=(const image_registration&) = delete;
  ~image_registration() { unlist_row(row_); }

 private:
  Row& row_;
};

template <class T, class P>
inline array_row array_row_of{typeid(array_ptr<T, P>).name(), &type_row<T>, &home_of_number<P>, lister_of<P>()};
template <class T, class P>
inline const image_registration<array_row> array_enlisted{array_row_of<T, P>};

template <class T>
inline group_row group_row_of{typeid(class_tag<T>).name(), &group_type_of<T>};
template <class T>
inline const image_registration<group_row> group_enlisted{group_row_of<T>};

}  // namespace nacre::detail
