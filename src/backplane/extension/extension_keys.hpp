// SPDX-License-Identifier: Apache-2.0
// The keys that open the extension modules of a rank.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nacre/extension_module.hpp>

namespace nacre {

/// Each module has one key at a time; the rank that owns the module hands it out. Any thread.
class extension_keys {
 public:
  /// `make_key` returns keys that are new and cannot be guessed. Any thread calls it, under the lock of this object.
  explicit extension_keys(std::function<extension_key()> make_key) : make_key_(std::move(make_key)) {}

  void add(std::string_view module, extension_access access);
  void remove(std::string_view module);
  /// Nothing when there is no such module.
  [[nodiscard]] std::optional<extension_key> find(std::string_view module) const;
  /// A new key takes the place of the old one, and the key of the program opens the module no more. False when there is
  /// no such module.
  bool withdraw(std::string_view module);
  /// Compares in constant time.
  [[nodiscard]] bool opens(const extension_key& key, std::string_view module) const;

 private:
  struct locked_module {
    extension_key key;
    extension_access access = extension_access::key;
  };
  std::function<extension_key()> make_key_;
  mutable std::mutex mutex_;
  std::map<std::string, locked_module, std::less<>> all_;  // under mutex_
};

}  // namespace nacre
