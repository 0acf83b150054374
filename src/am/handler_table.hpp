// SPDX-License-Identifier: Apache-2.0
// The numbers of handlers and object types: equal in every process of one binary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/handler.hpp>
#include <nacre/object_type.hpp>

#include "base/fnv1a.hpp"

namespace nacre {

/// Every handler and object type that the program mentions, numbered in the order of their names from 1. Made once,
/// when the first runtime of the process starts; constant afterwards, and never destroyed. It is link-time data, equal
/// for all ranks, and so the one table that ranks of a process share. A program has at most 65,535 object types.
class handler_table {
 public:
  static const handler_table& get();

  /// Null for a number that no handler has. Numbers in messages are input: check.
  [[nodiscard]] const detail::handler_info* handler(std::uint32_t id) const noexcept {
    return id < handlers_.size() ? handlers_[id] : nullptr;
  }
  [[nodiscard]] const detail::object_type* type(std::uint32_t id) const noexcept {
    return id < types_.size() ? types_[id] : nullptr;
  }
  /// One more than the largest number of a handler, and of a class.
  [[nodiscard]] std::size_t handlers() const noexcept { return handlers_.size(); }
  [[nodiscard]] std::size_t types() const noexcept { return types_.size(); }
  /// A hash of all names in order; peers must agree on it.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_.value(); }

 private:
  handler_table();
  std::vector<const detail::handler_info*> handlers_;
  std::vector<const detail::object_type*> types_;
  fnv1a<std::uint64_t> fingerprint_;
};

}  // namespace nacre
