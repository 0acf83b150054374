// SPDX-License-Identifier: Apache-2.0
// The functions of an object's class that the runtime calls for its own purposes.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <nacre/ids.hpp>
#include <nacre/object_type.hpp>

#include "base/exception_text.hpp"

namespace nacre {

/// Names objects for people, in errors. Any thread.
class object_names {
 public:
  [[nodiscard]] virtual std::string name_of(object_id id) const = 0;

 protected:
  ~object_names() = default;
};

/// The name of an object for people. `names` may be null.
[[nodiscard]] inline std::string name_of_object(const object_names* names, object_id id) {
  if (names != nullptr) return names->name_of(id);
  return "object " + std::to_string(id.birth().value()) + ":" + std::to_string(id.index());
}

/// Names the class function that is called, for the line that ends the job when it throws.
struct object_function {
  const char* name;  ///< as the user writes it: "load()"
  const detail::object_type& type;
  object_id object;
  const object_names* names;

  [[nodiscard]] std::string operator()() const {
    return std::string(name) + " of the class " + std::string(type.name) + " (" + name_of_object(names, object) + ")";
  }
};

/// The packed size of an object in bytes.
[[nodiscard]] inline std::size_t packed_size_of(const detail::object_type& type, void* object, object_id id,
                                                const object_names& names) {
  return call_named(object_function{"serialize", type, id, &names}, [&] { return type.packed_size(object); });
}

/// The values that the class declares for an object.
struct object_declaration {
  double load = 0, priority = 0;
  double migration_cost = 0;  ///< seconds, 0 or more
  bool stays = false;
};
[[nodiscard]] inline bool declares(const detail::object_type& type) noexcept {
  return type.load != nullptr || type.may_migrate != nullptr || type.priority != nullptr ||
         type.migration_cost != nullptr;
}
[[nodiscard]] inline bool refuses_to_move(const detail::object_type& type, const void* object, object_id id,
                                          const object_names& names) {
  return type.may_migrate != nullptr &&
         !call_named(object_function{"may_migrate()", type, id, &names}, [&] { return type.may_migrate(object); });
}
[[nodiscard]] inline object_declaration declared_by(const detail::object_type& type, const void* object, object_id id,
                                                    const object_names& names) {
  object_declaration said;
  if (type.load != nullptr) {
    said.load = call_named(object_function{"load()", type, id, &names}, [&] { return type.load(object); });
  }
  if (type.priority != nullptr) {
    said.priority = call_named(object_function{"priority()", type, id, &names}, [&] { return type.priority(object); });
  }
  if (type.migration_cost != nullptr) {
    const double cost =
        call_named(object_function{"migration_cost()", type, id, &names}, [&] { return type.migration_cost(object); });
    said.migration_cost = cost > 0 ? cost : 0;  // a NaN is none
  }
  said.stays = refuses_to_move(type, object, id, names);
  return said;
}

}  // namespace nacre
