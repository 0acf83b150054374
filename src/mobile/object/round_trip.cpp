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

std::string difference(std::vector<std::byte> previous, std::vector<std::byte> later) {
  if (previous.size() != later.size()) {
    return "it packs to " + std::to_string(previous.size()) + " bytes, and its copy to " + std::to_string(later.size());
  }
  const auto place = std::mismatch(previous.begin(), previous.end(), later.begin()).first;
  if (place == previous.end()) return {};
  const std::string position = std::to_string(place - previous.begin());
  std::sort(previous.begin(), previous.end());
  std::sort(later.begin(), later.end());
  if (previous == later) return {};  // the elements of an unordered container
  return "byte " + position + " of its packed form is another one in its copy";
}

}  // namespace

std::string round_trip(const detail::object_type& type, void*& object) {
  const std::vector<std::byte> previous = bytes_of(type, object);
  reader in{std::span<const std::byte>(previous)};
  std::unique_ptr<void, void (*)(void*) noexcept> owned(type.unpack(in), type.destroy);
  void* const copy = owned.get();
  if (copy == nullptr) return "what it packs cannot be unpacked";
  std::string match;
  if (!in.finish()) {
    match = "it packs more than is read when it is unpacked";
  } else if (type.equal != nullptr && type.equal(object, object) && !type.equal(object, copy)) {
    match = "it is not equal to its copy: is a member left out?";
  } else {
    match = difference(previous, bytes_of(type, copy));
  }
  type.destroy(std::exchange(object, owned.release()));
  return match;
}

}  // namespace nacre
