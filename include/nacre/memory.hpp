// SPDX-License-Identifier: Apache-2.0
// One-sided memory: memory of a rank that other ranks may write and read without running a handler there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <nacre/future.hpp>
#include <nacre/ids.hpp>

namespace nacre {

namespace detail {

/// Identifies exposed memory in messages: 32 bytes without padding. The rank that exposed the memory checks the key,
/// and trusts no other part of it.
struct memory_name {
  std::uint32_t rank = 0;
  std::uint32_t segment = 0;           ///< never given twice by one rank; 0: none
  std::uint64_t bytes = 0;             ///< length of the whole segment
  std::array<std::uint64_t, 2> key{};  ///< random, new for each exposure

  friend bool operator==(const memory_name&, const memory_name&) = default;
};
static_assert(sizeof(memory_name) == 32);

enum class memory_access : std::uint8_t { read_only, read_write };

/// A part of a segment, counted in elements of `element_bytes`, and the caller's memory for it.
struct memory_range {
  std::uint64_t offset;
  std::size_t element_bytes;
  std::span<std::byte> local_memory;  ///< in use until the future is ready or dropped; a put only reads it
};

[[nodiscard]] memory_name expose(engine& core, std::span<std::byte> bytes, memory_access access);
void withdraw(engine& core, const memory_name& name);
[[nodiscard]] future<void> put(engine& core, thread_context& thread, const memory_name& name,
                               const memory_range& range);
[[nodiscard]] future<void> get(engine& core, thread_context& thread, const memory_name& name,
                               const memory_range& range);

}  // namespace detail

/// A handle to memory that a rank has exposed: `size()` elements of T. Trivially copyable, so it may be sent in
/// messages like a number. Every rank that holds a handle may access the memory until it is withdrawn; the handle's key
/// cannot be guessed. A handle to const elements permits reading only, which the exposing rank checks too.
template <class T>
class remote_memory {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "one-sided memory moves bytes: T must be trivially copyable");
  using element_type = T;

  /// A handle to no memory; access through it fails.
  remote_memory() = default;
  /// For the runtime.
  explicit remote_memory(const detail::memory_name& name) noexcept : name_(name) {}

  /// The rank that exposed the memory.
  [[nodiscard]] rank_id rank() const noexcept { return rank_id(name_.rank); }
  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(name_.bytes / sizeof(T)); }
  /// True for a handle from expose. The memory may have been withdrawn since.
  explicit operator bool() const noexcept { return name_.segment != 0; }
  [[nodiscard]] const detail::memory_name& name() const noexcept { return name_; }
  friend bool operator==(const remote_memory&, const remote_memory&) = default;

 private:
  detail::memory_name name_;
};

}  // namespace nacre
