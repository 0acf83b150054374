// SPDX-License-Identifier: Apache-2.0
// The messages to one peer on one channel, as a stream of bytes, until the peer has acknowledged them.
#include "transport/udp/send_stream.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/frame.hpp"

namespace nacre::transport::udp {

void send_stream::push(message_ptr m) {
  const std::size_t bytes = frame_of(*m).size();
  messages_.push_back({.offset = end_, .m = std::move(m)});
  end_ += bytes;
}

/// Bytes that counted as lost may have arrived after all, only late. Those at the front of the window are left out.
void send_stream::drop_arrived_losses() noexcept {
  while (!lost_.empty()) {
    stretch& first = lost_.front();
    const std::uint64_t end = first.offset + first.bytes;
    if (end > acknowledged_) {
      if (first.offset < acknowledged_) first = {.offset = acknowledged_, .bytes = end - acknowledged_};
      return;
    }
    lost_.pop_front();
  }
}

std::size_t send_stream::available(std::size_t most) {
  drop_arrived_losses();
  if (!lost_.empty()) return std::min(most, lost_.front().bytes);
  return std::min({std::uint64_t{most}, end_ - next_, acknowledged_ + window_bytes - next_});
}

stretch send_stream::take(std::size_t most) {
  const stretch taken{.offset = lost_.empty() ? next_ : lost_.front().offset, .bytes = available(most)};
  if (lost_.empty()) {
    next_ += taken.bytes;
  } else if (taken.bytes == lost_.front().bytes) {
    lost_.pop_front();
  } else {
    lost_.front().offset += taken.bytes;
    lost_.front().bytes -= taken.bytes;
  }
  return taken;
}

/// Calls on_piece(bytes) for each message that holds some of the bytes, until that returns false.
template <class OnPiece>
void send_stream::for_each_piece(stretch stretch, OnPiece on_piece) const noexcept {
  auto position = std::upper_bound(messages_.begin(), messages_.end(), stretch.offset,
                                   [](std::uint64_t sought, const entry& each) { return sought < each.offset; });
  NACRE_ASSERT(position != messages_.begin(), "bytes that have not arrived are kept");
  for (--position; stretch.bytes > 0; ++position) {
    const std::span<const std::byte> rest = frame_of(*position->m).subspan(stretch.offset - position->offset);
    const std::size_t bytes = std::min(rest.size(), stretch.bytes);
    if (!on_piece(rest.first(bytes))) return;
    stretch = {.offset = stretch.offset + bytes, .bytes = stretch.bytes - bytes};
  }
}

void send_stream::copy(stretch stretch, std::span<std::byte> target) const noexcept {
  for_each_piece(stretch, [&](std::span<const std::byte> piece) {
    std::memcpy(target.data(), piece.data(), piece.size());
    target = target.subspan(piece.size());
    return true;
  });
}

std::size_t send_stream::places_of(stretch stretch, std::span<std::span<const std::byte>> blocks) const noexcept {
  std::size_t count = 0;
  bool fits = true;
  for_each_piece(stretch, [&](std::span<const std::byte> piece) {
    fits = count < blocks.size();
    if (fits) blocks[count++] = piece;
    return fits;
  });
  return fits ? count : 0;
}

void send_stream::on_acknowledged(stretch stretch) {
  std::uint64_t begin = std::max(stretch.offset, acknowledged_);
  std::uint64_t end = stretch.offset + stretch.bytes;
  if (begin >= end) return;
  NACRE_ASSERT(end <= next_, "only bytes that have left arrive");
  if (begin != acknowledged_) {
    auto place = arrived_.upper_bound(begin);
    if (place != arrived_.begin() && std::prev(place)->second >= begin) begin = (--place)->first;
    for (; place != arrived_.end() && place->first <= end; place = arrived_.erase(place)) {
      end = std::max(end, place->second);
    }
    arrived_.emplace(begin, end);
    return;
  }
  for (auto first = arrived_.begin(); first != arrived_.end() && first->first <= end; first = arrived_.erase(first)) {
    end = std::max(end, first->second);
  }
  advance_to(end);
}

void send_stream::advance_to(std::uint64_t offset) noexcept {
  acknowledged_ = offset;
  while (!messages_.empty() && messages_.front().offset + frame_of(*messages_.front().m).size() <= offset) {
    messages_.pop_front();
  }
}

void send_stream::clear() noexcept {
  messages_.clear();
  arrived_.clear();
  lost_.clear();
  acknowledged_ = next_ = end_;
}

}  // namespace nacre::transport::udp
