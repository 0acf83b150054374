// SPDX-License-Identifier: Apache-2.0
// The bytes from one peer on one channel: puts them in order and cuts them into messages.
#include "transport/udp/receive_stream.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <nacre/assert.hpp>

#include "transport/udp/send_stream.hpp"

namespace nacre::transport::udp {

std::optional<frame_error> frame_assembler::end_header() {
  message_header header;
  std::memcpy(&header, header_.data(), sizeof header);
  header_bytes_ = 0;
  if (header.kind > message_kind::reply) return frame_error::unknown_kind;  // a shutdown is told by a stream
  if (const auto error = check_header(header, limits_)) return error;
  partial_ = make_message(header.payload_bytes);
  partial_->header = header;
  partial_bytes_ = 0;
  return std::nullopt;
}

std::optional<frame_error> frame_assembler::add(std::span<const std::byte> bytes, message_list& arrived) {
  while (!failed_ && (!bytes.empty() || partial_ != nullptr)) {
    if (partial_ == nullptr) {
      const std::size_t count = std::min(header_.size() - header_bytes_, bytes.size());
      std::memcpy(header_.data() + header_bytes_, bytes.data(), count);
      bytes = bytes.subspan(count);
      header_bytes_ += count;
      if (header_bytes_ < header_.size()) break;
      failed_ = end_header();
      continue;
    }
    const std::size_t count = std::min(partial_->header.payload_bytes - partial_bytes_, bytes.size());
    std::memcpy(partial_->body() + partial_bytes_, bytes.data(), count);
    bytes = bytes.subspan(count);
    partial_bytes_ += count;
    if (partial_bytes_ < partial_->header.payload_bytes) break;
    arrived.push_back(std::exchange(partial_, nullptr));
  }
  return failed_;
}

std::span<std::byte> frame_assembler::place() noexcept {
  if (partial_ == nullptr) return {};
  return {partial_->body() + partial_bytes_, partial_->header.payload_bytes - partial_bytes_};
}

void frame_assembler::add_written(std::size_t bytes, message_list& arrived) noexcept {
  NACRE_EXPECT(bytes <= place().size(), "the payload has room for what was written into it");
  partial_bytes_ += bytes;
  if (partial_ != nullptr && partial_bytes_ == partial_->header.payload_bytes)
    arrived.push_back(std::exchange(partial_, nullptr));
}

std::optional<frame_error> receive_stream::add_written(std::size_t written, std::span<const std::byte> rest,
                                                       message_list& arrived) {
  NACRE_EXPECT(early_.empty() && within_window(next_, written + rest.size()), "place was asked before");
  frames_.add_written(written, arrived);
  next_ += written + rest.size();
  return frames_.add(rest, arrived);
}

bool receive_stream::within_window(std::uint64_t offset, std::size_t bytes) const noexcept {
  return offset + bytes <= next_ + send_stream::window_bytes;
}

std::optional<frame_error> receive_stream::add(std::uint64_t offset, std::span<const std::byte> bytes,
                                               message_list& arrived) {
  NACRE_ASSERT(within_window(offset, bytes.size()), "the caller refuses what exceeds the window");
  if (offset > next_) {
    keep(offset, bytes);
    return std::nullopt;
  }
  if (offset + bytes.size() <= next_) return std::nullopt;  // all of it has come before
  bytes = bytes.subspan(next_ - offset);
  next_ += bytes.size();
  if (const auto error = frames_.add(bytes, arrived)) return error;
  while (!early_.empty() && early_.begin()->first <= next_) {
    const auto first = early_.extract(early_.begin());
    const std::span<const std::byte> kept(first.mapped());
    if (first.key() + kept.size() <= next_) continue;
    const auto rest = kept.subspan(next_ - first.key());
    next_ += rest.size();
    if (const auto error = frames_.add(rest, arrived)) return error;
  }
  return std::nullopt;
}

/// Keeps those bytes that are not there yet.
void receive_stream::keep(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t end = offset + bytes.size();
  auto above = early_.upper_bound(offset);
  std::uint64_t begin = offset;
  if (above != early_.begin()) {
    const auto& below = *std::prev(above);
    begin = std::max(begin, below.first + below.second.size());
  }
  while (begin < end) {
    const std::uint64_t until = above == early_.end() ? end : std::min(end, above->first);
    if (begin < until) {
      const auto missing = bytes.subspan(begin - offset, until - begin);
      early_.emplace_hint(above, begin, std::vector<std::byte>(missing.begin(), missing.end()));
    }
    if (above == early_.end()) break;
    begin = std::max(until, above->first + above->second.size());
    ++above;
  }
}

}  // namespace nacre::transport::udp
