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

/// An owned row of bytes for messages. Moved into `send` or `call` as the last argument, or returned by a handler, it
/// becomes the message: its bytes are not copied at the sender, and a handler that takes a `nacre::buffer` by value
/// owns the block that the transport has received into. Between ranks of one process only a pointer moves. So it is
/// with a buffer that the serialize function of a mobile object names last, when the object moves. Elsewhere (inside
/// other values, before other arguments, to several ranks at once) it travels too, and is copied.
///
/// Move-only. One thread at a time; any thread may end it. A handler that keeps a buffer keeps its memory out of flow
/// control: what it holds no longer counts as on its way.
class buffer {
 public:
  buffer() noexcept = default;
  /// So many bytes, uninitialised. Throws out_of_blocks, and usage_error beyond 1 GiB, which no message carries.
  explicit buffer(std::size_t bytes);
  /// A copy of them.
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
  /// As whole elements of T; a rest that is none is left out.
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
  /// Keeps the first `bytes` of them, which must be there.
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

  message* block_ = nullptr;  // in whose body the bytes lie; null for none, and for a view while arguments are decoded
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

/// How arguments become a message that is one of them, and back.
class buffer_parts {
 public:
  /// Reads a buffer that points into the payload and does not own it.
  static void read_view(reader& ar, buffer& into) noexcept;
  /// Makes a view own its bytes: takes over `m`, whose payload they are part of, when that is left, permitted, and
  /// mostly these bytes; else copies them.
  static void make_owning(buffer& view, message_ptr& m, bool may_adopt);
  /// How many bytes in front of a buffer's own are free for `prefix` bytes of other arguments and its length, counted
  /// from where a payload may begin; 0 when they do not fit, or the buffer is too small to be worth it.
  [[nodiscard]] static std::size_t room_before(const buffer& last, std::size_t prefix) noexcept;
  /// The buffer's block as a message with that many bytes in front of the buffer's. The buffer is empty afterwards.
  [[nodiscard]] static message_ptr into_message(buffer& last, std::size_t before) noexcept;
};

/// body_ops::adopt for arguments of which the last is a buffer.
template <class Values>
message_ptr adopt_buffer(Values& values) {
  constexpr std::size_t last_index = std::tuple_size_v<Values> - 1;
  buffer& last = std::get<last_index>(values);
  const auto others = [&]<std::size_t... I>(auto& ar, std::index_sequence<I...>) {
    (ar(std::as_const(std::get<I>(values))), ...);
    ar.write_length(last.size());
  };
  constexpr auto indices = std::make_index_sequence<last_index>{};
  sizer count;
  others(count, indices);
  const std::size_t prefix = count.size() + 1;
  const std::size_t before = buffer_parts::room_before(last, prefix);
  if (before == 0) return nullptr;
  writer head(std::span<std::byte>(last.data() - before, before));
  others(head, indices);
  head.write_flat(static_cast<std::uint8_t>(before - prefix));
  for (std::size_t at = prefix; at < before; ++at) head.write_flat(std::uint8_t{0});
  return buffer_parts::into_message(last, before);
}

/// Reads one top-level argument.
template <class T>
void read_argument(reader& ar, T& into) {
  if constexpr (is_buffer<T>) {
    buffer_parts::read_view(ar, into);
  } else {
    ar(into);
  }
}

/// Gives the buffers among decoded arguments their bytes; `m` is the message that they came in, and may be taken over.
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
