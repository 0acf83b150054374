// SPDX-License-Identifier: Apache-2.0
// Packing an object and comparing it with its unpacked copy.
#include "mobile/object/round_trip.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>

namespace nacre {
namespace {

std::vector<std::byte> bytes_of(const detail::object_type& type, void* object) {
  std::vector<std::byte> bytes(type.packed_size(object));
  writer out{std::span<std::byte>(bytes)};
  type.pack(object, out);
  return bytes;
}

std::string difference(std::vector<std::byte> before, std::vector<std::byte> after) {
  if (before.size() != after.size()) {
    return "it packs to " + std::to_string(before.size()) + " bytes, and its copy to " + std::to_string(after.size());
  }
  const auto place = std::mismatch(before.begin(), before.end(), after.begin()).first;
  if (place == before.end()) return {};
  const std::string at = std::to_string(place - before.begin());
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  if (before == after) return {};  // the elements of an unordered container
  return "byte " + at + " of its packed form is another one in its copy";
}

}  // namespace

std::string round_trip(const detail::object_type& type, void*& object) {
  const std::vector<std::byte> before = bytes_of(type, object);
  reader in{std::span<const std::byte>(before)};
  std::unique_ptr<void, void (*)(void*) noexcept> owned(type.unpack(in), type.destroy);
  void* const copy = owned.get();
  if (copy == nullptr) return "what it packs cannot be unpacked";
  std::string found;
  if (!in.finish()) {
    found = "it packs more than is read when it is unpacked";
  } else if (type.equal != nullptr && type.equal(object, object) && !type.equal(object, copy)) {
    found = "it is not equal to its copy: is a member left out?";
  } else {
    found = difference(before, bytes_of(type, copy));
  }
  type.destroy(std::exchange(object, owned.release()));
  return found;
}

}  // namespace nacre
