// SPDX-License-Identifier: Apache-2.0
// Hashes of the host's name, and of that and the affinity mask.
#include "base/core_fingerprint.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

namespace nacre {

namespace {

std::uint64_t hash(const void* bytes, std::size_t count) {
  return std::hash<std::string_view>{}({static_cast<const char*>(bytes), count});
}

}  // namespace

std::uint64_t fingerprint_of_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return hash(name.data(), name.size());
}

std::uint64_t fingerprint_of_cores() {
  struct {
    std::uint64_t host = fingerprint_of_host();
    cpu_set_t cores{};
  } place;
  ::sched_getaffinity(0, sizeof place.cores, &place.cores);
  return hash(&place, sizeof place);
}

}  // namespace nacre
