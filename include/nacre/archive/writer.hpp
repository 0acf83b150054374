// SPDX-License-Identifier: Apache-2.0
// The archives that pack: `writer` stores bytes, `sizer` counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <nacre/archive/save.hpp>
#include <nacre/assert.hpp>

namespace nacre {

class buffer;

namespace detail {

/// The common base of writer and sizer, which take the same calls.
template <class Self>
class saving_archive {
 public:
  using is_saving = std::true_type;
  using is_loading = std::false_type;

  template <class... Ts>
  Self& operator()(const Ts&... values) {
    if constexpr ((flat<Ts> && ...)) {
      self().write_flat(values...);
    } else {
      (save_value(self(), values), ...);
    }
    return self();
  }
  /// Packs one value: `ar & a & b`, as in Boost.
  template <class T>
  Self& operator&(const T& value) {
    return (*this)(value);
  }

  /// Writes the length of a container for reader::read_length: 4 bytes, or 12 for lengths from 2^32 - 1 on.
  void write_length(std::size_t length) {
    if (length < length_escape) [[likely]] {
      self().write_flat(static_cast<std::uint32_t>(length));
    } else {
      self().write_flat(length_escape, static_cast<std::uint64_t>(length));
    }
  }

  /// Enters one level of nesting. False beyond archive_depth_max. Each true is paired with a leave().
  [[nodiscard]] bool enter() noexcept {
    if (depth_ == archive_depth_max) return false;
    ++depth_;
    return true;
  }
  void leave() noexcept { --depth_; }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }

  std::uint16_t depth_ = 0;
};

}  // namespace detail

/// Packs values one behind the other into a payload: `ar(a, b, c)`, as in cereal.
///
/// A writer either owns memory that grows, or fills memory of the caller. The caller's memory must be large enough (see
/// `packed_size`); a value that does not fit is a broken invariant and aborts. Not thread-safe.
class writer : public detail::saving_archive<writer> {
 public:
  writer() noexcept = default;
  /// Fills `memory`, which must outlive the writer. The payload begins at memory.data(), which should be aligned to
  /// `archive_alignment`, so that the reader can form views.
  explicit writer(std::span<std::byte> memory) noexcept
      : begin_(memory.data()), now_(begin_), end_(begin_ + memory.size()), fixed_(true) {}
  /// Fills `memory` with values that end with a nacre::buffer, where `memory` has no room for the bytes of that buffer.
  /// These are not copied: the buffer is moved into `last`, so the packed values give it up. `last` must outlive the
  /// writer.
  writer(std::span<std::byte> memory, buffer& last) noexcept : writer(memory) { last_ = &last; }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  /// Appends bytes as they are.
  void write_bytes(const void* source, std::size_t bytes) {
    if (bytes != 0) std::memcpy(claim(bytes), source, bytes);
  }

  /// Appends zero bytes until size() is a multiple of `alignment`, a power of two.
  void align(std::size_t alignment) {
    const std::size_t padding = -size() & (alignment - 1);
    if (padding != 0) std::memset(claim(padding), 0, padding);
  }

  /// Appends values of flat types with one bounds check for all of them.
  template <detail::flat... Ts>
  void write_flat(const Ts&... values) {
    [[maybe_unused]] std::byte* target = claim(detail::flat_sum<Ts...>());
    ((target = detail::store_flat(target, values)), ...);
  }

  /// Returns, once, the place that a buffer packed now moves to; null when its bytes must be copied, the usual case.
  [[nodiscard]] buffer* take_last() noexcept { return now_ == end_ ? std::exchange(last_, nullptr) : nullptr; }

  /// Number of bytes packed so far.
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(now_ - begin_); }
  /// The payload; valid until the next write.
  [[nodiscard]] const std::byte* data() const noexcept { return begin_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {begin_, now_}; }

 private:
  std::byte* claim(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(end_ - now_)) [[unlikely]]
      grow(bytes);
    std::byte* position = now_;
    now_ += bytes;
    return position;
  }
  void grow(std::size_t bytes);

  std::byte* begin_ = nullptr;
  std::byte* now_ = nullptr;
  std::byte* end_ = nullptr;
  buffer* last_ = nullptr;
  bool fixed_ = false;
  std::unique_ptr<std::byte[]> owned_;
};

/// Computes the packed size of values without storing them, so that a block is allocated once at the right size.
class sizer : public detail::saving_archive<sizer> {
 public:
  /// Counts so many bytes; the bytes themselves are not read.
  void write_bytes(const void*, std::size_t bytes) noexcept { size_ += bytes; }
  /// Counts the padding up to a multiple of `alignment`, a power of two.
  void align(std::size_t alignment) noexcept { size_ += -size_ & (alignment - 1); }
  /// Counts values of flat types.
  template <detail::flat... Ts>
  void write_flat(const Ts&...) noexcept {
    size_ += detail::flat_sum<Ts...>();
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// The size of a nacre::buffer, in bytes.
  struct packed_buffer {
    std::size_t head_bytes = 0;  ///< of its block in front of the buffer's own bytes
    std::size_t bytes = 0;       ///< of the buffer itself
  };
  /// Counts a buffer and remembers it for last_buffer.
  void write_buffer(const packed_buffer& one) noexcept {
    size_ += one.bytes;
    last_ = one;
    last_end_ = size_;
  }
  /// The buffer that was counted last; zeros when something else was.
  [[nodiscard]] packed_buffer last_buffer() const noexcept { return last_end_ == size_ ? last_ : packed_buffer{}; }

 private:
  std::size_t size_ = 0;
  packed_buffer last_;
  std::size_t last_end_ = 0;
};

}  // namespace nacre
