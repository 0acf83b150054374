// SPDX-License-Identifier: Apache-2.0
// The typed shell of images: the value that main keeps, as bytes and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/archive/type_name.hpp>
#include <nacre/collectives.hpp>

namespace nacre {
class engine;
class thread_context;

namespace detail {

/// A value that main keeps for the time after a restore.
struct kept_value {
  std::string_view class_name;
  std::uint32_t mark = 0;  ///< of the class
  std::vector<std::byte> bytes;
  bool compared = false;  ///< equal values have equal bytes, so ranks that keep different ones are found out
};
/// Whether an image that is due, if any, is taken at the end of a wait, or one in any case.
enum class image_wish : std::uint8_t { if_due, now };

// src/runtime/api/images.cpp
/// Collective: waits for quiescence. Returns whether an image has been taken and is durable.
bool wait_with_kept(engine& core, thread_context& thread, const kept_value& kept, image_wish wish);
/// Collective. The bytes that the image keeps; nothing in a first start.
[[nodiscard]] std::optional<std::vector<std::byte>> restored_bytes(engine& core, thread_context& thread,
                                                                   std::string_view class_name, std::uint32_t mark);
[[noreturn]] void refuse_kept(std::string_view class_name);

template <class T>
[[nodiscard]] kept_value keep(const T& value) {
  static_assert(serializable<T>,
                "nacre: the kept value cannot be packed: write `template <class Archive> void serialize(Archive& ar) { "
                "ar(every, member); }` in its class");
  return {type_name<T>(), type_mark<T>(), pack(value), std::has_unique_object_representations_v<T>};
}

template <class T>
[[nodiscard]] std::optional<T> restored_value(engine& core, thread_context& thread) {
  const auto bytes = restored_bytes(core, thread, type_name<T>(), type_mark<T>());
  if (!bytes) return std::nullopt;
  expected<T, wire_error> value = unpack<T>(*bytes);
  if (!value) refuse_kept(type_name<T>());
  return std::move(*value);
}

}  // namespace detail
}  // namespace nacre
