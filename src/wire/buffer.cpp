// SPDX-License-Identifier: Apache-2.0
// Buffers: where their bytes lie in a block, and how a block changes between buffer and message.
#include <nacre/buffer.hpp>

#include <cstring>
#include <limits>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

/// Room in front of a new buffer's bytes, for the arguments that precede it or the object that it moves with. This many
/// bytes put the buffer's bytes at the start of a cache line of the pooled block.
constexpr std::size_t headroom_of(std::size_t bytes) noexcept { return bytes < 16 * 1024 ? 112 : 240; }
/// A payload states the gap in one byte.
constexpr std::size_t gap_bytes_max = std::numeric_limits<std::uint8_t>::max();
/// For fewer bytes, a message of their own and the gap cost more than a copy.
constexpr std::size_t adopt_bytes_min = 512;

}  // namespace

buffer::buffer(std::size_t bytes) {
  if (bytes == 0) return;
  check_payload(bytes);
  const std::size_t headroom = headroom_of(bytes);
  message_ptr block = detail::make_block(headroom + bytes);
  data_ = block->body() + headroom;
  size_ = bytes;
  block_ = block.release();
}

buffer buffer::copy_of(std::span<const std::byte> bytes) {
  buffer result(bytes.size());
  if (!bytes.empty()) std::memcpy(result.data_, bytes.data(), bytes.size());
  return result;
}

void buffer::shrink(std::size_t bytes) noexcept {
  NACRE_EXPECT(bytes <= size_, "a buffer only becomes shorter");
  size_ = bytes;
}

void buffer::load(reader& ar) {
  buffer view;
  detail::buffer_parts::read_view(ar, view);
  message_ptr none;
  message_ptr* const whole = ar.whole();
  detail::buffer_parts::make_owning(view, whole != nullptr ? *whole : none, true);
  *this = std::move(view);
}

void buffer::write_to(sizer& ar) const noexcept {
  const std::size_t previous = block_ == nullptr ? 0 : static_cast<std::size_t>(data_ - block_->body());
  ar.write_buffer({previous, size_});
}

void buffer::write_to(writer& ar) const {
  if (buffer* const last = ar.take_last()) {
    *last = std::move(const_cast<buffer&>(*this));  // a caller that sets the last buffer gives the value up
  } else {
    ar.write_bytes(data_, size_);
  }
}

namespace detail {

void buffer_parts::read_view(reader& ar, buffer& buffer) noexcept {
  const std::size_t bytes = ar.read_length(1);
  if (bytes == 0) return;
  std::uint8_t gap = 0;
  ar.read_flat(gap);
  static_cast<void>(ar.view_bytes(gap));
  const std::span<const std::byte> view = ar.view_bytes(bytes);
  // The payload belongs to one message, or is copied before it is written to.
  buffer.data_ = const_cast<std::byte*>(view.data());
  buffer.size_ = view.size();
}

void buffer_parts::make_owning(buffer& view, message_ptr& m, bool may_adopt) {
  if (view.block_ != nullptr || view.size_ == 0) return;
  const bool worth_it = may_adopt && m != nullptr && view.size_ >= m->header.payload_bytes / 2 &&
                        reinterpret_cast<std::uintptr_t>(view.data_) % archive_alignment == 0;
  if (!worth_it) {
    const std::span<const std::byte> bytes(view.data_, view.size_);
    view.data_ = nullptr;
    view.size_ = 0;
    view = buffer::copy_of(bytes);
    return;
  }
  if (m->ops != nullptr) m->ops->destroy(*m);  // tells the granter of credit that the message has arrived
  m->ops = nullptr;
  view.block_ = m.release();
}

std::size_t buffer_parts::room_before(const buffer& last, std::size_t prefix) noexcept {
  if (last.block_ == nullptr || last.size_ < adopt_bytes_min) return 0;
  const auto previous = static_cast<std::size_t>(last.data_ - last.block_->body());
  const bool fits =
      prefix <= previous && previous - prefix <= gap_bytes_max && previous + last.size_ <= payload_bytes_max;
  return fits ? previous : 0;
}

message_ptr buffer_parts::into_message(buffer& last, std::size_t previous) noexcept {
  message_ptr m(last.block_);
  m->header = {};
  m->header.payload_bytes = static_cast<std::uint32_t>(previous + last.size_);
  last.block_ = nullptr;
  last.data_ = nullptr;
  last.size_ = 0;
  return m;
}

}  // namespace detail
}  // namespace nacre
