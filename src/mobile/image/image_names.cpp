// SPDX-License-Identifier: Apache-2.0
// Names of classes and handlers, and the rows of this program that bear them.
#include "mobile/image/image_names.hpp"

#include <cstddef>
#include <memory>
#include <typeinfo>
#include <utility>

#include "am/handler_table.hpp"
#include "base/exception_text.hpp"

namespace nacre {
namespace {

template <class Row>
std::string mangled_name_of(const Row& row) {
  return row.identity != nullptr ? row.identity->name() : "";
}

std::uint64_t default_bytes_of(const detail::object_type& type) {
  const auto name = [&] { return "serialize, or the default constructor, of the class " + std::string(type.name); };
  return call_named(name, [&] {
    const std::unique_ptr<void, void (*)(void*) noexcept> object(type.make(), type.destroy);
    return std::uint64_t{type.packed_size(object.get())};
  });
}

/// Rows of internal linkage in several files may have one name; the table has them in the order of the link. The first
/// keeps the mangled name, the others get their place behind it.
std::string mangled_name_at(std::string mangled, std::uint32_t place) {
  if (place != 0) mangled += '#' + std::to_string(place);
  return mangled;
}

template <class Row>
const Row& row_named(const std::unordered_map<std::string, const Row*>& rows, const image_name& wanted,
                     const char* name) {
  const std::string wanted_name = wanted.name + '\n' + wanted.mangled;
  if (const auto match = rows.find(wanted_name); match != rows.end()) return *match->second;
  // One of several alike rows, of libraries perhaps that are not loaded now: the only one that there is will do.
  const std::string first = wanted_name.substr(0, wanted_name.rfind('#'));
  if (const auto only = rows.find(first); only != rows.end() && !rows.contains(mangled_name_at(first, 1)))
    return *only->second;
  throw image_misfit("the image has " + std::string(name) + " " + wanted.name +
                     ", which this program does not have: it was taken by another program or version");
}

template <class Row, class Get>
std::unordered_map<std::string, const Row*> rows_by_name(std::size_t count, Get get) {
  std::unordered_map<std::string, const Row*> rows;
  std::unordered_map<std::string, std::uint32_t> places;
  for (std::uint32_t number = 1; number < count; ++number) {
    const Row* const row = get(number);
    if (row == nullptr) continue;
    const std::string name = std::string(row->name) + '\n', mangled = mangled_name_of(*row);
    rows.emplace(name + mangled_name_at(mangled, places[name + mangled]++), row);
  }
  return rows;
}

/// The mangled name of a row, with the number by which rows_by_name tells rows of one name apart.
template <class Row, class Get>
std::string image_name_of(const Row& row, std::size_t count, Get get) {
  const std::string mangled = mangled_name_of(row);
  std::uint32_t place = 0;
  for (std::uint32_t number = 1; number < count; ++number) {
    const Row* const other = get(number);
    if (other == &row) return mangled_name_at(mangled, place);
    if (other != nullptr && other->name == row.name && mangled_name_of(*other) == mangled) ++place;
  }
  return mangled;
}

}  // namespace

std::uint32_t image_names::number_of(const detail::object_type& type) {
  const auto [entry, fresh] = numbers_.try_emplace(&type, static_cast<std::uint32_t>(types_.size()));
  if (fresh) {
    const handler_table& table = handler_table::get();
    types_.push_back({std::string(type.name),
                      image_name_of(type, table.types(), [&](std::uint32_t number) { return table.type(number); }),
                      default_bytes_of(type)});
  }
  return entry->second;
}

std::uint32_t image_names::number_of(const detail::handler_info& handler) {
  const auto [entry, fresh] = numbers_.try_emplace(&handler, static_cast<std::uint32_t>(handlers_.size()));
  if (fresh) {
    const handler_table& table = handler_table::get();
    handlers_.push_back(
        {std::string(handler.name),
         image_name_of(handler, table.handlers(), [&](std::uint32_t number) { return table.handler(number); }), 0});
  }
  return entry->second;
}

void image_names::resolve() {
  const handler_table& table = handler_table::get();
  const auto types = rows_by_name<detail::object_type>(table.types(), [&](auto number) { return table.type(number); });
  for (const image_name& each : types_) {
    const detail::object_type& row = row_named(types, each, "objects of the class");
    if (const std::uint64_t bytes = default_bytes_of(row); bytes != each.bytes) {
      throw image_misfit("the class " + each.name + " is packed differently: a new object takes " +
                         std::to_string(bytes) + " bytes, and took " + std::to_string(each.bytes) +
                         " when the image was taken; restore with the program that took it");
    }
    found_types_.push_back(&row);
  }
  if (handlers_.empty()) return;
  const auto handlers =
      rows_by_name<detail::handler_info>(table.handlers(), [&](auto number) { return table.handler(number); });
  for (const image_name& each : handlers_) {
    found_handlers_.push_back(&row_named(handlers, each, "messages to the handler"));
  }
}

}  // namespace nacre
