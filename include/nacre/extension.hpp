// SPDX-License-Identifier: Apache-2.0
// Extension modules: the interface of a module, and how a program commands one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <nacre/extension_module.hpp>
#include <nacre/future.hpp>
#include <nacre/operations.hpp>

namespace nacre {

namespace detail {
[[nodiscard]] std::uint64_t number_of_extension(std::string_view name) noexcept;
[[nodiscard]] future<std::vector<std::byte>> command_extension(engine& core, thread_context& thread, rank_id target,
                                                               const extension_target& extension_target,
                                                               std::span<const std::byte> bytes);
}  // namespace detail

/// An extension module by its name, with a key; see operations::extension. Small and copyable. Valid as long as the
/// runtime or context that made it.
class extension_ref {
 public:
  /// For the runtime.
  extension_ref(engine& core, thread_context* const& thread, std::uint64_t module, const extension_key& key) noexcept
      : core_(&core), thread_(&thread), module_(module), key_(key) {}

  /// Sends a command to the module on a rank; its on_command gets number and bytes. The future has its answer. It fails
  /// with call_error when the rank has no such module, the key does not open it, the module fails the command, or it
  /// has been deactivated. Commands of one thread to one rank arrive in the order sent. The bytes may change when this
  /// returns. Throws usage_error for a rank that does not exist.
  future<std::vector<std::byte>> command(rank_id target, std::uint32_t number,
                                         std::span<const std::byte> bytes = {}) const {
    return detail::command_extension(*core_, **thread_, target, {module_, key_, number}, bytes);
  }

  /// For the runtime.
  [[nodiscard]] engine& core() const noexcept { return *core_; }
  [[nodiscard]] thread_context& thread() const noexcept { return **thread_; }
  /// For the runtime: the module, its key and the number of a command.
  [[nodiscard]] detail::extension_target target(std::uint32_t number) const noexcept { return {module_, key_, number}; }

 private:
  engine* core_;
  thread_context* const* thread_;
  std::uint64_t module_;
  extension_key key_;
};

inline extension_ref operations::extension(std::string_view name, const extension_key& key) const {
  return extension_ref(*core_, thread_, detail::number_of_extension(name), key);
}

}  // namespace nacre
