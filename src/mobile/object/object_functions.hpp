// SPDX-License-Identifier: Apache-2.0
// The functions of an object's class that the runtime calls for its own purposes.
#pragma once

#include <string>
#include <utility>

#include <nacre/ids.hpp>
#include <nacre/mobile_ptr.hpp>

#include "base/exception_text.hpp"

namespace nacre {

class array_space;
/// The name of an object for people, see array_space::name_of; `arrays` may be null. src/mobile/array/array_space.cpp.
[[nodiscard]] std::string name_of_object(const array_space* arrays, object_id id);

/// Names the class function that is called, for the line that ends the job when it throws.
struct object_function {
  const char* name;  ///< as the user writes it: "load()"
  const detail::object_type& type;
  object_id object;
  const array_space* arrays;

  [[nodiscard]] std::string operator()() const {
    return std::string(name) + " of the class " + std::string(type.name) + " (" + name_of_object(arrays, object) + ")";
  }
};

/// The packed size of an object in bytes.
[[nodiscard]] inline std::size_t packed_size_of(const detail::object_type& type, void* object, object_id id,
                                                const array_space& arrays) {
  return call_named(object_function{"serialize", type, id, &arrays}, [&] { return type.packed_size(object); });
}

/// The values that the class declares for an object.
struct object_declaration {
  double load = 0, priority = 0;
  bool stays = false;
};
[[nodiscard]] inline bool declares(const detail::object_type& type) noexcept {
  return type.load != nullptr || type.may_migrate != nullptr || type.priority != nullptr;
}
[[nodiscard]] inline bool refuses_to_move(const detail::object_type& type, const void* object, object_id id,
                                          const array_space& arrays) {
  return type.may_migrate != nullptr &&
         !call_named(object_function{"may_migrate()", type, id, &arrays}, [&] { return type.may_migrate(object); });
}
[[nodiscard]] inline object_declaration declared_by(const detail::object_type& type, const void* object, object_id id,
                                                    const array_space& arrays) {
  object_declaration said;
  if (type.load != nullptr) {
    said.load = call_named(object_function{"load()", type, id, &arrays}, [&] { return type.load(object); });
  }
  if (type.priority != nullptr) {
    said.priority = call_named(object_function{"priority()", type, id, &arrays}, [&] { return type.priority(object); });
  }
  said.stays = refuses_to_move(type, object, id, arrays);
  return said;
}

}  // namespace nacre
