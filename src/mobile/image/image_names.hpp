// SPDX-License-Identifier: Apache-2.0
// The names by which an image refers to classes and handlers: their numbers differ between programs.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <nacre/handler.hpp>
#include <nacre/object_type.hpp>

#include "mobile/entry/image_errors.hpp"

namespace nacre {

/// A class or a handler as an image names it.
struct image_name {
  std::string name, mangled;
  std::uint64_t bytes = 0;  ///< of a class: those of a packed default object, by which another layout is found out
  template <class Archive>
  void serialize(Archive& ar) {
    ar(name, mangled, bytes);
  }
};

/// In place of the number of a handler: the message ends its object.
inline constexpr std::uint32_t no_handler = ~std::uint32_t{0};

/// Gives names numbers in the order of their first use.
class image_names {
 public:
  [[nodiscard]] std::uint32_t number_of(const detail::object_type& type);
  [[nodiscard]] std::uint32_t number_of(const detail::handler_info& handler);
  template <class Archive>
  void serialize(Archive& ar) {
    ar(types_, handlers_);
  }

  /// Finds the rows of this program. Throws image_misfit when one is missing, or when a class is packed differently.
  void resolve();
  /// The row of a number; null when the image has no such number. After resolve.
  [[nodiscard]] const detail::object_type* type(std::uint32_t number) const noexcept {
    return number < found_types_.size() ? found_types_[number] : nullptr;
  }
  [[nodiscard]] const detail::handler_info* handler(std::uint32_t number) const noexcept {
    return number < found_handlers_.size() ? found_handlers_[number] : nullptr;
  }

 private:
  std::vector<image_name> types_, handlers_;
  std::unordered_map<const void*, std::uint32_t> numbers_;  // used while an image is written
  std::vector<const detail::object_type*> found_types_;     // used while an image is read
  std::vector<const detail::handler_info*> found_handlers_;
};

}  // namespace nacre
