// SPDX-License-Identifier: Apache-2.0
// Typed shell of the collective operations: values to bytes and back, around the untyped tree.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/ids.hpp>

namespace nacre {
class engine;
class lane;

namespace detail {

/// Adds a contribution to what has been accumulated; both are packed values of one type.
using combine_function = std::function<void(std::vector<std::byte>& accumulated, std::span<const std::byte> contribution)>;

void barrier(engine& core, lane& on);
[[nodiscard]] std::vector<std::byte> broadcast_bytes(engine& core, lane& on, std::vector<std::byte> value, rank_id root);
[[nodiscard]] std::vector<std::byte> all_reduce_bytes(engine& core, lane& on, std::vector<std::byte> value,
                                                      combine_function combine);

template <class T>
T unpack_own(std::span<const std::byte> bytes) {
  expected<T, wire_error> value = unpack<T>(bytes);
  if (!value) throw std::runtime_error("a collective got bytes of another type: do all ranks call it with the same one?");
  return std::move(*value);
}

template <class T>
T broadcast_value(engine& core, lane& on, const T& value, rank_id root) {
  return unpack_own<T>(broadcast_bytes(core, on, pack(value), root));
}

template <class T, class Op>
T all_reduce_value(engine& core, lane& on, const T& value, Op op) {
  auto combine = [op](std::vector<std::byte>& accumulated, std::span<const std::byte> contribution) {
    accumulated = pack(static_cast<T>(op(unpack_own<T>(accumulated), unpack_own<T>(contribution))));
  };
  return unpack_own<T>(all_reduce_bytes(core, on, pack(value), std::move(combine)));
}

}  // namespace detail
}  // namespace nacre
