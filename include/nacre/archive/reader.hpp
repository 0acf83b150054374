// SPDX-License-Identifier: Apache-2.0
// The archive that unpacks: bounds-checked, never throws on bad bytes, remembers its first error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <nacre/archive/error.hpp>
#include <nacre/archive/save.hpp>
#include <nacre/message.hpp>

namespace nacre {

namespace detail {

template <class T>
void load_value(reader& ar, T& value);
template <flat T>
const std::byte* fetch_flat(reader& ar, const std::byte* source, T& value) noexcept;
template <flat T>
void clear_flat(T& value) noexcept;

/// Reading T checks nothing but bounds.
template <class T>
concept unchecked = bitwise<T> || nothing<T>;

}  // namespace detail

/// Unpacks values in the order in which they were packed: `ar(a, b, c)`.
///
/// The bytes come from a peer, so any bytes are legal input. The first error sticks: after it every read yields
/// value-initialised data (empty containers, null pointers, zeros) and consumes nothing. Call `ok()` or `finish()`
/// before the values are used. The memory allocated while reading is at most a constant (of the type) times the bytes
/// read. Exceptions come only from the user's own types and from an exhausted heap. Not thread-safe.
class reader {
 public:
  using is_saving = std::false_type;
  using is_loading = std::true_type;

  /// Reads `payload`, which must outlive the reader and the views that are read from it.
  explicit reader(std::span<const std::byte> payload) noexcept
      : begin_(payload.data()), now_(begin_), end_(begin_ + payload.size()) {}
  /// Reads `payload`, which is a part of the payload of the message `whole` and reaches to its end: a buffer that is
  /// the last value may take the message over.
  reader(std::span<const std::byte> payload, message_ptr& whole) noexcept : reader(payload) { whole_ = &whole; }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  template <class... Ts>
  reader& operator()(Ts&... values) {
    constexpr bool writable = !((std::is_const_v<Ts> && detail::flat<Ts> && !detail::nothing<Ts>) || ...);
    static_assert(writable,
                  "nacre: a const member cannot be read back; serialize serves both directions, so it is not const "
                  "itself: write `template <class Archive> void serialize(Archive& ar)`");
    if constexpr (!writable) {
      fail();
    } else if constexpr ((detail::flat<Ts> && ...)) {
      read_flat(values...);
    } else {
      (detail::load_value(*this, values), ...);
    }
    return *this;
  }
  /// Reads one value: `ar & a & b`, as in Boost.
  template <class T>
  reader& operator&(T& value) {
    return (*this)(value);
  }

  [[nodiscard]] bool ok() const noexcept { return error_ == wire_error::none; }
  /// The first error, or wire_error::none.
  [[nodiscard]] wire_error error() const noexcept { return error_; }
  /// Refuses the bytes; for `load` functions that check the values they read. The first error is kept.
  void fail(wire_error error = wire_error::rejected) noexcept {
    if (ok()) error_ = error;
    now_ = end_;
  }
  /// Ends the reading: bytes left over are an error. Returns ok().
  [[nodiscard]] bool finish() noexcept {
    if (ok() && remaining() != 0) fail(wire_error::trailing_bytes);
    return ok();
  }

  /// The message that the value read last may take over, since no bytes follow it; null when there is none.
  [[nodiscard]] message_ptr* whole() const noexcept { return ok() && remaining() == 0 ? whole_ : nullptr; }
  [[nodiscard]] std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - now_); }
  [[nodiscard]] std::size_t position() const noexcept { return static_cast<std::size_t>(now_ - begin_); }

  /// Copies `bytes` bytes to `target`; zeros after an error.
  void read_bytes(void* target, std::size_t bytes) noexcept {
    if (bytes == 0) return;
    if (const std::byte* source = nullptr; take(bytes, source)) {
      std::memcpy(target, source, bytes);
    } else {
      std::memset(target, 0, bytes);
    }
  }

  /// The next `bytes` bytes, in place; empty after an error.
  [[nodiscard]] std::span<const std::byte> view_bytes(std::size_t bytes) noexcept {
    const std::byte* source = nullptr;
    if (!take(bytes, source)) return {};
    return {source, bytes};
  }

  /// Skips to a multiple of `alignment`, a power of two, counted from the start of the payload.
  void align(std::size_t alignment) noexcept {
    const std::byte* skipped = nullptr;
    if (ok()) static_cast<void>(take(-position() & (alignment - 1), skipped));
  }

  /// Reads values of flat types with one bounds check for all of them.
  template <detail::flat... Ts>
  void read_flat(Ts&... values) noexcept {
    const std::byte* source = nullptr;
    if (take(detail::flat_sum<Ts...>(), source)) {
      ((source = detail::fetch_flat(*this, source, values)), ...);
      if constexpr ((detail::unchecked<Ts> && ...)) return;
    }
    if (!ok()) (detail::clear_flat(values), ...);
  }

  /// Reads the length of a container of elements that take `element_bytes` or more each; 0 after an error.
  [[nodiscard]] std::size_t read_length(std::size_t element_bytes) noexcept {
    return read_length_up_to([=](std::size_t rest) { return element_bytes > 1 ? rest / element_bytes : rest; });
  }
  /// Reads the number of elements in a container that packs eight in a byte.
  [[nodiscard]] std::size_t read_bit_length() noexcept {
    return read_length_up_to([](std::size_t rest) { return rest * 8; });
  }

  /// Enters one level of nesting. Fails and returns false beyond archive_depth_max. Each true is paired with a leave().
  [[nodiscard]] bool enter() noexcept {
    if (depth_ == archive_depth_max) {
      fail(wire_error::too_deep);
      return false;
    }
    ++depth_;
    return true;
  }
  void leave() noexcept { --depth_; }

 private:
  [[nodiscard]] bool take(std::size_t bytes, const std::byte*& source) noexcept {
    if (bytes > remaining()) [[unlikely]] {
      fail(wire_error::truncated);
      return false;
    }
    source = now_;
    now_ += bytes;
    return ok();
  }

  std::size_t read_length_up_to(auto&& limit) noexcept {
    std::uint32_t short_length = 0;
    read_flat(short_length);
    std::uint64_t length = short_length;
    if (short_length == detail::length_escape) [[unlikely]] {
      read_flat(length);
      if (length < detail::length_escape) fail(wire_error::length_forged);
    }
    if (length <= limit(remaining())) [[likely]]
      return static_cast<std::size_t>(length);
    fail(wire_error::length_forged);
    return 0;
  }

  const std::byte* begin_;
  const std::byte* now_;
  const std::byte* end_;
  message_ptr* whole_ = nullptr;
  wire_error error_ = wire_error::none;
  std::uint16_t depth_ = 0;
};

}  // namespace nacre
