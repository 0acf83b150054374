// SPDX-License-Identifier: Apache-2.0
// The untyped part of the archives: growth of the writer's buffer, and the texts of errors.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>
#include <nacre/error.hpp>

#include "base/type_name.hpp"

namespace nacre {

void writer::grow(std::size_t bytes) {
  NACRE_EXPECT(!fixed_, "values do not fit the given memory; size it with nacre::packed_size");
  constexpr std::size_t capacity_min = 256;
  const std::size_t used = size();
  const std::size_t capacity = std::max({capacity_min, used + bytes, 2 * static_cast<std::size_t>(end_ - begin_)});
  auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
  if (used != 0) std::memcpy(larger.get(), begin_, used);
  owned_ = std::move(larger);
  begin_ = owned_.get();
  now_ = begin_ + used;
  end_ = begin_ + capacity;
}

void detail::throw_too_deep(std::string_view name) {
  throw unpackable_value("a value of the class " + std::string(name) + " nests more than " +
                         std::to_string(archive_depth_max) +
                         " classes, containers and owning pointers (nacre::archive_depth_max, which bounds the stack "
                         "that reading takes): pack a chain or tree as a list of its nodes, in save and load");
}

void detail::throw_valueless(std::string_view name) {
  throw unpackable_value("a value of the class " + std::string(name) +
                         " is valueless_by_exception (no reader could make such a value): assign it a value first");
}

std::string_view describe(wire_error error) noexcept {
  switch (error) {
    case wire_error::none:
      return "no error";
    case wire_error::truncated:
      return "the bytes end before the value does";
    case wire_error::length_forged:
      return "a length exceeds what the remaining bytes can hold";
    case wire_error::bad_variant_index:
      return "a variant's alternative, or a listed class, does not exist";
    case wire_error::bad_enum_or_bool:
      return "a bool, flag or enum has a value outside its type";
    case wire_error::duplicate_key:
      return "a map or set repeats a key";
    case wire_error::misaligned:
      return "the payload is not aligned for the view that was asked for";
    case wire_error::too_deep:
      return "values nest too deeply";
    case wire_error::rejected:
      return "the type's own load function refused the value";
    case wire_error::trailing_bytes:
      return "bytes are left over behind the value";
  }
  return "unknown error";
}

void detail::throw_unlisted_class(const std::type_info& held, const std::type_info& base) {
  const std::string name = nacre::type_name(base);
  throw usage_error("an object of class " + nacre::type_name(held) + " cannot be packed (classes_of(const " + name +
                    "*) does not list its class, so no rank could make one): add it to the list, "
                    "nacre::polymorphic<" +
                    name + ", ...>");
}

}  // namespace nacre
