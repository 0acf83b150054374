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

template <class Row>
const Row& row_named(const std::unordered_map<std::string, const Row*>& rows, const image_name& wanted,
                     const char* name) {
  const auto match = rows.find(wanted.name + '\n' + wanted.mangled);
  if (match != rows.end()) return *match->second;
  throw image_misfit("the image has " + std::string(name) + " " + wanted.name +
                     ", which this program does not have: it was taken by another program or version");
}

template <class Row, class Get>
std::unordered_map<std::string, const Row*> rows_by_name(std::size_t count, Get get) {
  std::unordered_map<std::string, const Row*> rows;
  for (std::uint32_t number = 1; number < count; ++number) {
    if (const Row* const row = get(number)) rows.emplace(std::string(row->name) + '\n' + mangled_name_of(*row), row);
  }
  return rows;
}

}  // namespace

std::uint32_t image_names::number_of(const detail::object_type& type) {
  const auto [entry, fresh] = numbers_.try_emplace(&type, static_cast<std::uint32_t>(types_.size()));
  if (fresh) types_.push_back({std::string(type.name), mangled_name_of(type), default_bytes_of(type)});
  return entry->second;
}

std::uint32_t image_names::number_of(const detail::handler_info& handler) {
  const auto [entry, fresh] = numbers_.try_emplace(&handler, static_cast<std::uint32_t>(handlers_.size()));
  if (fresh) handlers_.push_back({std::string(handler.name), mangled_name_of(handler), 0});
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
