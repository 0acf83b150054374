// SPDX-License-Identifier: Apache-2.0
// The lists of rows for images.
#include <nacre/image_rows.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "am/row_list.hpp"

namespace nacre::detail {
namespace {

/// Never destroyed: rows of libraries are withdrawn at the very end of a process.
template <class Row>
struct image_rows {
  std::mutex mutex;
  row_list<Row> rows;  // under mutex
};
constinit image_rows<array_row> array_rows;
constinit image_rows<group_row> group_rows;
constinit image_rows<home_row> home_rows;
constinit image_rows<container_row> container_rows;

template <class Row>
void add(image_rows<Row>& image_rows, Row& row) noexcept {
  const std::scoped_lock lock(image_rows.mutex);
  image_rows.rows.add(row);
}
template <class Row>
void remove(image_rows<Row>& image_rows, const Row& row) noexcept {
  const std::scoped_lock lock(image_rows.mutex);
  image_rows.rows.remove(row);
}
constexpr char place_mark = '#';  // in no mangled name

/// The name of the first row that matches, and its place among the rows of that name when it is not the first of them.
template <class Row, class Matches>
std::string name_in_image(image_rows<Row>& in, Matches matches) {
  const std::scoped_lock lock(in.mutex);
  const std::vector<Row*> rows = in.rows.rows();
  const auto match = std::ranges::find_if(rows, [&](const Row* each) { return matches(*each); });
  if (match == rows.end()) return "";
  const std::string name((*match)->name);
  const auto place = std::count_if(rows.begin(), match, [&](const Row* each) { return each->name == name; });
  return place == 0 ? name : name + place_mark + std::to_string(place);
}

/// Where a library is loaded no more, or not yet, the place is another one: the only row of the name will do.
template <class Row>
const Row* find(image_rows<Row>& in, std::string_view name) noexcept {
  const std::string_view bare = name.substr(0, name.rfind(place_mark));
  std::size_t place = 0;
  if (bare.size() != name.size()) std::from_chars(name.data() + bare.size() + 1, name.data() + name.size(), place);
  const std::scoped_lock lock(in.mutex);
  const auto newest = [&](std::size_t skipped) {
    return in.rows.find([&](const Row& each) { return each.name == bare && skipped-- == 0; });
  };
  std::size_t alike = 0;
  while (newest(alike) != nullptr) ++alike;
  if (alike == 1) return newest(0);
  return place < alike ? newest(alike - 1 - place) : nullptr;
}

}  // namespace

void list_row(array_row& row) noexcept { add(array_rows, row); }
void list_row(group_row& row) noexcept { add(group_rows, row); }
void list_row(home_row& row) noexcept { add(home_rows, row); }
void list_row(container_row& row) noexcept { add(container_rows, row); }
void unlist_row(array_row& row) noexcept { remove(array_rows, row); }
void unlist_row(group_row& row) noexcept { remove(group_rows, row); }
void unlist_row(home_row& row) noexcept { remove(home_rows, row); }
void unlist_row(container_row& row) noexcept { remove(container_rows, row); }

const array_row* find_array_row(std::string_view name) noexcept { return find(array_rows, name); }
const group_row* find_group_row(std::string_view name) noexcept { return find(group_rows, name); }
const home_row* find_home_row(std::string_view name) noexcept { return find(home_rows, name); }

/// Alike rows of several libraries may stand in the list; any of them will do.
const container_row* find_container_row(std::string_view name) noexcept {
  const std::scoped_lock lock(container_rows.mutex);
  return container_rows.rows.find([&](const container_row& each) { return each.name == name; });
}

std::string image_name_of(const group_type& type) {
  return name_in_image(group_rows, [&](const group_row& each) { return same_class(each.type->key, type.key); });
}
std::string image_name_of(const array_layout& layout) {
  return name_in_image(array_rows, [&](const array_row& each) {
    return each.home == layout.home && each.list == layout.list && same_class(each.type->key, layout.type->key);
  });
}
std::string image_name_of(const home_row& row) {
  return name_in_image(home_rows, [&](const home_row& each) { return &each == &row; });
}

}  // namespace nacre::detail
