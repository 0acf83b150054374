// SPDX-License-Identifier: Apache-2.0
// Numbering handlers and object types.
#include "am/handler_table.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <nacre/array.hpp>
#include <nacre/colocate.hpp>
#include <nacre/contribute.hpp>
#include <nacre/error.hpp>
#include <nacre/operation_buffers.hpp>

#include "wire/binary_fingerprint.hpp"

namespace nacre {
namespace {

/// The mangled name. It differs where two rows have the same readable name.
template <class Row>
std::string_view identity_of(const Row& row) noexcept {
  return row.identity == nullptr ? std::string_view() : row.identity->name();
}

/// The name of the file that holds a row, without its folder, which may differ between hosts; empty for the program.
std::string_view file_name_of(const void* row, std::span<const loaded_file> files) noexcept {
  const auto file = std::find_if(files.begin(), files.end(), [&](const loaded_file& each) { return each.holds(row); });
  if (file == files.end()) return {};
  const std::string_view path = file->path;
  return path.substr(path.rfind('/') + 1);
}

/// Rows that are alike, of internal linkage in several files of one library, keep the order of their initialisation,
/// which is that of the files in the link.
template <class Row>
void sort_rows(std::vector<Row*>& rows, std::span<const loaded_file> files) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row* a, const Row* b) {
    if (a->name != b->name) return a->name < b->name;
    const std::string_view of_a = identity_of(*a), of_b = identity_of(*b);
    if (of_a != of_b) return of_a < of_b;
    return file_name_of(a, files) < file_name_of(b, files);
  });
}

/// Each library of a process may have a key of its own for one class, where its symbols are hidden. Rows get the key
/// that was first, so that it is compared by its address.
class class_keys {
 public:
  class_keys() {  // the library itself compares keys with these
    for (const void* key :
         {detail::key_of<detail::operation_run>(), detail::key_of<detail::folding>(),
          detail::key_of<detail::contribution_values>(), detail::key_of<detail::colocation_shape>()}) {
      static_cast<void>(first_of(key));
    }
  }
  const void* first_of(const void* key) {
    if (key == nullptr) return nullptr;
    auto& alike = by_name_[static_cast<const std::type_info*>(key)->name()];
    const auto match =
        std::find_if(alike.begin(), alike.end(), [&](const void* each) { return detail::same_class(each, key); });
    return match != alike.end() ? *match : alike.emplace_back(key);
  }
  void adopt(detail::handler_info& row) {
    row.target_key = first_of(row.own_key);
    if (row.colocation == nullptr) return;
    for (std::size_t i = 0; i < row.colocation->keys.size(); ++i) {
      row.colocation->keys[i] = first_of(row.colocation->own_keys[i]);
    }
  }
  void adopt(detail::object_type& row) { row.key = first_of(row.own_key); }

 private:
  std::unordered_map<std::string_view, std::vector<const void*>> by_name_;
};

/// The rows of `previous` with their numbers, without those that are gone. `fresh` loses all that have a number.
template <class Row>
std::vector<const Row*> keep_numbers(const std::vector<const Row*>& previous, std::vector<Row*>& fresh) {
  const std::unordered_set<const Row*> alive(fresh.begin(), fresh.end());
  std::vector<const Row*> kept = previous;
  for (const Row*& each : kept) {
    if (!alive.contains(each)) each = nullptr;
  }
  const std::unordered_set<const Row*> numbered(kept.begin(), kept.end());
  std::erase_if(fresh, [&](const Row* each) { return numbered.contains(each); });
  return kept;
}

}  // namespace

void handler_table::add_names(std::string_view name, std::string_view identity) {
  constexpr unsigned char end = 0;  // where a name ends
  for (const std::string_view each : {name, identity}) {
    fingerprint_.add(each);
    fingerprint_.add(end);
  }
}

/// Two hosts may have different builds of a library, which the fingerprint of the program does not show.
void handler_table::add_files(const listed_rows& all) {
  std::vector<std::pair<std::string_view, const loaded_file*>> pairs;
  const auto own_bytes = reinterpret_cast<const void*>(&why_no_handler);
  for (const loaded_file& each : all.files) {
    if (each.is_program()) continue;
    const auto holds = [&](const auto* row) { return each.holds(row); };
    const bool has_rows = std::ranges::any_of(all.handlers, holds) || std::ranges::any_of(all.types, holds);
    if (has_rows) libraries_.push_back(each.path);
    if (has_rows || each.holds(own_bytes))
      pairs.emplace_back(std::string_view(each.path).substr(each.path.rfind('/') + 1), &each);
  }
  std::ranges::sort(pairs, {}, [](const auto& each) { return each.first; });
  for (const auto& [name, file] : pairs) {
    std::uint64_t number = 0;
    for (const loaded_file::part& notes : file->notes) {
      const auto id = find_build_id(loaded_file::bytes_of(notes), notes.alignment);
      if (id) fingerprint_.add({reinterpret_cast<const char*>(id->data()), id->size()});
      if (id) number = 1;
    }
    if (number == 0) number = file_fingerprint(file->path.c_str()).value_or(0);
    add_names(name, std::to_string(number));
  }
}

handler_table::handler_table(const listed_rows& all, std::unique_ptr<const handler_table> previous) {
  const handler_table* const in_use = previous.release();  // jobs use it, also where this one cannot be made
  std::vector<detail::handler_info*> new_handlers = all.handlers;
  std::vector<detail::object_type*> new_types = all.types;
  if (in_use == nullptr) {
    handlers_.push_back(nullptr);
    types_.push_back(nullptr);
  } else {
    fingerprint_ = in_use->fingerprint_;
    handlers_ = keep_numbers(in_use->handlers_, new_handlers);
    types_ = keep_numbers(in_use->types_, new_types);
  }
  class_keys keys;
  for (const auto* each : handlers_) {
    if (each != nullptr) static_cast<void>(keys.first_of(each->target_key));
  }
  for (const auto* each : types_) {
    if (each != nullptr) static_cast<void>(keys.first_of(each->key));
  }
  const auto number = [&]<class Row>(std::vector<Row*>& rows, std::vector<const Row*>& table) {
    sort_rows(rows, all.files);
    for (Row* row : rows) {
      keys.adopt(*row);
      row->id = decltype(row->id)(static_cast<std::uint32_t>(table.size()));
      table.push_back(row);
      add_names(row->name, identity_of(*row));
    }
    fingerprint_.add(static_cast<unsigned char>(0));  // where the handlers end, and the types
  };
  number(new_handlers, handlers_);
  number(new_types, types_);
  add_files(all);
  if (types_.size() > std::numeric_limits<std::uint16_t>::max()) {  // object_entry has two bytes for it
    throw setup_error("a program with more than 65,535 classes of mobile objects");
  }
  previous_.reset(in_use);
}

}  // namespace nacre
