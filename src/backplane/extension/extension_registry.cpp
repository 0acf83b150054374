// SPDX-License-Identifier: Apache-2.0
// The table behind register_extension.
#include "backplane/extension/extension_registry.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include <nacre/error.hpp>

namespace nacre {
namespace {

/// It belongs to the process, since the program registers modules before any runtime exists.
struct registry {
  std::mutex mutex;
  std::map<std::string, registered_extension, std::less<>> known;  // under mutex
};

registry& all_extensions() {
  static registry only;
  return only;
}

}  // namespace

void register_extension(std::string_view name, extension_factory make, extension_access access) {
  if (name.empty() || !make) {
    throw usage_error("an extension module without a name or a factory: write register_extension(\"name\", factory)");
  }
  registry& all = all_extensions();
  const std::scoped_lock lock(all.mutex);
  all.known.insert_or_assign(std::string(name), registered_extension{std::string(name), std::move(make), access});
}

std::vector<registered_extension> registered_extensions() {
  registry& all = all_extensions();
  const std::scoped_lock lock(all.mutex);
  std::vector<registered_extension> result;
  for (const auto& each : all.known) result.push_back(each.second);
  return result;
}

}  // namespace nacre
