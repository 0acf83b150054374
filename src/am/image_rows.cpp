// SPDX-License-Identifier: Apache-2.0
// The lists of rows for images.
#include <nacre/image_rows.hpp>

#include <mutex>

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
/// Alike rows of several libraries may stand in a list; any of them will do.
template <class Row, class Matches>
const Row* find(image_rows<Row>& in, Matches matches) noexcept {
  const std::scoped_lock lock(in.mutex);
  return in.rows.find(matches);
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

const array_row* find_array_row(std::string_view name) noexcept {
  return find(array_rows, [&](const array_row& each) { return each.name == name; });
}
const group_row* find_group_row(std::string_view name) noexcept {
  return find(group_rows, [&](const group_row& each) { return each.name == name; });
}
const home_row* find_home_row(std::string_view name) noexcept {
  return find(home_rows, [&](const home_row& each) { return each.name == name; });
}

const container_row* find_container_row(std::string_view name) noexcept {
  return find(container_rows, [&](const container_row& each) { return each.name == name; });
}

std::string_view name_of_array_row(const array_layout& layout) noexcept {
  const array_row* const row = find(array_rows, [&](const array_row& each) {
    return each.home == layout.home && each.list == layout.list && same_class(each.type->key, layout.type->key);
  });
  return row != nullptr ? row->name : std::string_view();
}

}  // namespace nacre::detail
