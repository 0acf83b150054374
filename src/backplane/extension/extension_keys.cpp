// SPDX-License-Identifier: Apache-2.0
// Checks keys.
#include "backplane/extension/extension_keys.hpp"

namespace nacre {

void extension_keys::add(std::string_view module, extension_access access) {
  const std::scoped_lock lock(mutex_);
  all_.insert_or_assign(std::string(module), locked_module{make_key_(), access});
}

void extension_keys::remove(std::string_view module) {
  const std::scoped_lock lock(mutex_);
  if (const auto function = all_.find(module); function != all_.end()) all_.erase(function);
}

std::optional<extension_key> extension_keys::find(std::string_view module) const {
  const std::scoped_lock lock(mutex_);
  const auto function = all_.find(module);
  return function == all_.end() ? std::nullopt : std::optional(function->second.key);
}

bool extension_keys::withdraw(std::string_view module) {
  const std::scoped_lock lock(mutex_);
  const auto function = all_.find(module);
  if (function == all_.end()) return false;
  function->second = {make_key_(), extension_access::key};
  return true;
}

bool extension_keys::opens(const extension_key& key, std::string_view module) const {
  const std::scoped_lock lock(mutex_);
  const auto function = all_.find(module);
  if (function == all_.end()) return false;
  if (key.is_program_key()) return function->second.access == extension_access::program;
  const auto& right = function->second.key.words;
  return ((key.words[0] ^ right[0]) | (key.words[1] ^ right[1])) == 0;
}

}  // namespace nacre
