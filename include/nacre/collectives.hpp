// SPDX-License-Identifier: Apache-2.0
// Typed shell of the collective operations: values to bytes and back, around the untyped tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/error.hpp>
#include <nacre/ids.hpp>

namespace nacre {
class engine;
class thread_context;

/// The collective operation that a rank calls; ranks compare it, so that different calls are found out.
enum class collective_kind : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  all_reduce,
  gather,
  all_gather,
  scan,
  exclusive_scan,
  // The kinds below are reductions for all ranks that the runtime itself makes: within a call of main, or at its end.
  array,        ///< makes or destroys an array
  group,        ///< makes or destroys a group
  container,    ///< makes a container
  kept_wait,    ///< agrees on an image
  end_of_main,  ///< main has ended
};

/// Adds a contribution to the accumulated value; both are packed values of one type.
using combine_function =
    std::function<void(std::vector<std::byte>& accumulated, std::span<const std::byte> contribution)>;

/// One rank's call of a collective. Kind, root and type are equal on all ranks.
struct collective_call {
  collective_kind kind = collective_kind::barrier;
  rank_id root;                  ///< broadcast: the rank that gives the value; reduce, gather: the one that gets it
  std::vector<std::byte> value;  ///< this rank's contribution; broadcast: read at the root only
  /// For reductions and scans. Called inside start and on_message of the engine, through which its exceptions pass;
  /// after an exception the collective does not end.
  combine_function combine = {};
  std::uint32_t type = 0;  ///< type_mark of the values, by which ranks detect a difference
};

namespace detail {

[[nodiscard]] rank_id rank_of(const engine& core) noexcept;

/// Enters a collective and waits for its end. For the bytes that it returns see collective_host::complete.
std::vector<std::byte> run_collective(engine& core, thread_context& thread, collective_call call);

/// A number that is equal for equal types in all processes of one binary.
template <class T>
consteval std::uint32_t type_mark() {
  std::uint32_t hash = 0x811c9dc5U;  // FNV-1a
  for (const char each : std::string_view(__PRETTY_FUNCTION__)) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x01000193U;
  }
  return hash;
}

template <class T>
T unpack_own(std::span<const std::byte> bytes) {
  static_assert(
      !holds_view<T>,
      "the values of a collective are copies that travel, and a view of one would look at memory that is gone: "
      "hand over a std::string or std::vector");
  expected<T, wire_error> value = unpack<T>(bytes);
  if (!value)
    throw std::runtime_error("a collective got bytes of another type: do all ranks call it with the same one?");
  return std::move(*value);
}

template <class T, class Op>
combine_function combine_with(Op op) {
  return [op](std::vector<std::byte>& accumulated, std::span<const std::byte> contribution) {
    try {
      accumulated = pack(static_cast<T>(op(unpack_own<T>(accumulated), unpack_own<T>(contribution))));
    } catch (...) {
      throw_named("combining the values of a collective");
    }
  };
}

template <class T>
T broadcast_value(engine& core, thread_context& thread, const T& value, rank_id root) {
  auto bytes = rank_of(core) == root ? pack(value) : std::vector<std::byte>();
  return unpack_own<T>(
      run_collective(core, thread, {collective_kind::broadcast, root, std::move(bytes), {}, type_mark<T>()}));
}

/// Runs a reduction or a scan. Returns a packed T, or no bytes where this rank gets no result.
template <class T, class Op>
std::vector<std::byte> combine_values(engine& core, thread_context& thread, collective_kind kind, rank_id root,
                                      const T& value, Op op) {
  return run_collective(core, thread, {kind, root, pack(value), combine_with<T>(std::move(op)), type_mark<T>()});
}

/// A gathered sequence holds the bytes of each rank behind their length, in the order of the ranks.
void append_part(std::vector<std::byte>& target, std::span<const std::byte> part);
[[nodiscard]] std::vector<std::span<const std::byte>> parts_of(std::span<const std::byte> gathered);

template <class T>
std::vector<T> gather_values(engine& core, thread_context& thread, collective_kind kind, rank_id root, const T& value) {
  const auto bytes = run_collective(core, thread, {kind, root, pack(value), {}, type_mark<T>()});
  std::vector<T> values;
  const auto parts = parts_of(bytes);
  values.reserve(parts.size());
  for (const auto part : parts) values.push_back(unpack_own<T>(part));
  return values;
}

}  // namespace detail
}  // namespace nacre
