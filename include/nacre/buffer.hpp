// SPDX-License-Identifier: Apache-2.0
// Bytes that travel without a copy: written in the message's own memory, and received in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/message.hpp>

namespace nacre {

namespace detail {
class buffer_parts;
}

/// An owned sequence of bytes for messages. A buffer that is moved into `send` or `call` as the last argument, or
/// returned by a handler, becomes the message: its bytes are not copied at the sender. A handler that takes a
/// `nacre::buffer` by value owns the block that the transport has received into. Between ranks of one process only a
/// pointer moves. The bytes are not copied either when a mobile object moves and its serialize function names the
/// buffer last. In all other places (inside other values, before other arguments, to several ranks at once) a buffer is
/// copied.
///
/// Move-only. One thread at a time may use it; any thread may destroy it. Flow control does not count a buffer that a
/// handler keeps: its bytes are no longer under way.
class buffer {
 public:
  buffer() noexcept = default;
  /// Allocates `bytes` bytes, uninitialised. Throws out_of_blocks when there is no memory, and usage_error beyond 1
  /// GiB, the longest payload of a message.
  explicit buffer(std::size_t bytes);
  /// Returns a buffer with a copy of `bytes`. Throws as the constructor does.
  [[nodiscard]] static buffer copy_of(std::span<const std::byte> bytes);

  buffer(buffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer&& other) noexcept {
    buffer old(std::move(*this));
    block_ = std::exchange(other.block_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~buffer() {
    if (block_ != nullptr) release_message(block_);
  }

  /// Aligned to 16.
  [[nodiscard]] std::byte* data() noexcept { return data_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The bytes as whole elements of T; remaining bytes that make no whole element are left out.
  template <class T>
  [[nodiscard]] std::span<T> as() noexcept {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= archive_alignment);
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> as() const noexcept {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= archive_alignment);
    return {reinterpret_cast<const T*>(data_), size_ / sizeof(T)};
  }
  /// Keeps the first `bytes` bytes; `bytes` must not exceed size().
  void shrink(std::size_t bytes) noexcept;

  template <class Archive>
  void save(Archive& ar) const {
    ar.write_length(size_);
    if (size_ == 0) return;
    ar.write_flat(static_cast<std::uint8_t>(-(ar.size() + 1) & (archive_alignment - 1)));
    ar.align(archive_alignment);
    write_to(ar);
  }
  void load(reader& ar);

 private:
  friend detail::buffer_parts;

  void write_to(sizer& ar) const noexcept;
  void write_to(writer& ar) const;

  message* block_ = nullptr;  // its body holds the bytes; null when empty, and for a view while arguments are decoded
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

template <class T>
inline constexpr bool is_buffer = std::is_same_v<T, buffer>;
template <class Tuple>
inline constexpr bool has_buffer = false;
template <class... Ts>
inline constexpr bool has_buffer<std::tuple<Ts...>> = (is_buffer<Ts> || ...);
template <class Tuple>
inline constexpr bool has_view = false;
template <class... Ts>
inline constexpr bool has_view<std::tuple<Ts...>> = (view<Ts> || ...);
template <class Tuple>
inline constexpr bool ends_with_buffer = false;
template <class First, class... Rest>
inline constexpr bool ends_with_buffer<std::tuple<First, Rest...>> =
    is_buffer<std::tuple_element_t<sizeof...(Rest), std::tuple<First, Rest...>>>;

/// Turns arguments into a message that is the block of one of them, and back.
class buffer_parts {
 public:
  /// Reads a buffer that points into the payload and does not own it.
  static void read_view(reader& ar, buffer& buffer) noexcept;
  /// Makes a view own its bytes, which are part of the payload of `m`. It takes over `m` when that is not null,
  /// `may_adopt` permits it, and the bytes are aligned and at least half of the payload; else it copies the bytes.
  static void make_owning(buffer& view, message_ptr& m, bool may_adopt);
  /// Returns the number of bytes in front of the buffer's own that the payload will have, from the place where a
  /// payload may begin. They hold `prefix` bytes: the other arguments and the buffer's length. Returns 0 when these do
  /// not fit, or when the buffer is too small to be worth it.
  [[nodiscard]] static std::size_t room_before(const buffer& last, std::size_t prefix) noexcept;
  /// Returns the buffer's block as a message. Its payload has `previous` bytes in front of the buffer's own. The buffer
  /// is empty afterwards.
  [[nodiscard]] static message_ptr into_message(buffer& last, std::size_t previous) noexcept;
};

/// body_ops::adopt for arguments of which the last is a buffer.
template <class Values>
message_ptr adopt_buffer(Values& values) {
  constexpr std::size_t last_index = std::tuple_size_v<Values> - 1;
  buffer& last = std::get<last_index>(values);
  const auto others = [&]<std::size_t... Index>(auto& ar, std::index_sequence<Index...>) {
    (ar(std::as_const(std::get<Index>(values))), ...);
    ar.write_length(last.size());
  };
  constexpr auto indices = std::make_index_sequence<last_index>{};
  sizer count;
  others(count, indices);
  const std::size_t prefix = count.size() + 1;
  const std::size_t previous = buffer_parts::room_before(last, prefix);
  if (previous == 0) return nullptr;
  writer head(std::span<std::byte>(last.data() - previous, previous));
  others(head, indices);
  head.write_flat(static_cast<std::uint8_t>(previous - prefix));
  for (std::size_t index = prefix; index < previous; ++index) head.write_flat(std::uint8_t{0});
  return buffer_parts::into_message(last, previous);
}

/// Reads one top-level argument.
template <class T>
void read_argument(reader& ar, T& value) {
  if constexpr (is_buffer<T>) {
    buffer_parts::read_view(ar, value);
  } else {
    ar(value);
  }
}

/// Makes the buffers among decoded arguments own their bytes. They came in the message `m`, which may be taken over.
template <class Tuple>
void make_buffers_owning(Tuple& arguments, message_ptr& m) {
  std::apply(
      [&](auto&... argument) {
        const auto one = [&]<class T>(T& value) {
          if constexpr (is_buffer<T>) buffer_parts::make_owning(value, m, !has_view<Tuple>);
        };
        (one(argument), ...);
      },
      arguments);
}

}  // namespace detail
}  // namespace nacre
