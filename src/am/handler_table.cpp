// SPDX-License-Identifier: Apache-2.0
// Numbering handlers and object types.
#include "am/handler_table.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <typeinfo>

#include <nacre/error.hpp>

namespace nacre {
namespace {

/// The list that registrations of one kind are linked into while static objects are initialised, which is before main
/// and in one thread.
template <class Row>
Row*& first_row() noexcept {
  static constinit Row* first = nullptr;
  return first;
}

/// The mangled name. It differs where two rows have the same readable name.
template <class Row>
std::string_view identity_of(const Row& row) noexcept {
  return row.identity == nullptr ? std::string_view() : row.identity->name();
}

template <class Row>
std::vector<Row*> sorted_rows() {
  std::vector<Row*> rows;
  for (Row* row = first_row<Row>(); row != nullptr; row = row->next) rows.push_back(row);
  // Stable over the reversed list: rows that are alike, of internal linkage in several files, keep the order of their
  // initialisation, which is that of the files in the link.
  std::reverse(rows.begin(), rows.end());
  std::stable_sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
    return a->name != b->name ? a->name < b->name : identity_of(*a) < identity_of(*b);
  });
  return rows;
}

template <class Row>
void enlist(Row& row) noexcept {
  row.next = first_row<Row>();
  first_row<Row>() = &row;
}

}  // namespace

namespace detail {
handler_registration::handler_registration(handler_info& row) noexcept { enlist(row); }
type_registration::type_registration(object_type& row) noexcept { enlist(row); }
}  // namespace detail

const handler_table& handler_table::get() {
  static const auto* const only = new handler_table;  // never destroyed: threads of a job may outlive exit
  return *only;
}

handler_table::handler_table() {
  constexpr unsigned char end = 0;
  const auto mix = [&](std::string_view name) {
    fingerprint_.add(name);
    fingerprint_.add(end);  // where a name ends
  };
  handlers_.push_back(nullptr);
  for (detail::handler_info* row : sorted_rows<detail::handler_info>()) {
    row->id = handler_id(static_cast<std::uint32_t>(handlers_.size()));
    handlers_.push_back(row);
    mix(row->name);
    mix(identity_of(*row));
  }
  fingerprint_.add(end);  // where the handlers end
  types_.push_back(nullptr);
  for (detail::object_type* row : sorted_rows<detail::object_type>()) {
    row->id = type_id(static_cast<std::uint32_t>(types_.size()));
    types_.push_back(row);
    mix(row->name);
    mix(identity_of(*row));
  }
  if (types_.size() > std::numeric_limits<std::uint16_t>::max()) {  // object_entry has two bytes for it
    throw setup_error("a program with more than 65,535 classes of mobile objects");
  }
}

}  // namespace nacre
