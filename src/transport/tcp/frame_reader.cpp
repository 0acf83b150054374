// SPDX-License-Identifier: Apache-2.0
// Cuts the byte stream of a peer into messages.
#include "transport/tcp/frame_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nacre::transport::tcp {
namespace {

constexpr std::size_t header_bytes = sizeof(message_header);

}  // namespace

std::optional<frame_error> frame_reader::filled(std::size_t bytes, message_list& arrived) {
  if (failed_) return failed_;
  if (partial_ != nullptr) {
    const std::size_t body_bytes = std::min(bytes, partial_->header.payload_bytes - partial_bytes_);
    partial_bytes_ += body_bytes;
    bytes -= body_bytes;
    if (partial_bytes_ < partial_->header.payload_bytes) return std::nullopt;
    arrived.push_back(std::exchange(partial_, nullptr));
  }
  const bool all_looked_at = bytes == std::min(look_bytes_, buffer_bytes - end_);
  end_ += bytes;
  NACRE_ASSERT(end_ <= buffer_bytes, "no more bytes than there was space for");
  failed_ = parse(arrived);
  if (partial_ != nullptr) {
    look_bytes_ = short_look_bytes;
  } else if (all_looked_at) {
    look_bytes_ = std::min(8 * look_bytes_, buffer_bytes);
  }
  return failed_;
}

std::optional<frame_error> frame_reader::parse(message_list& arrived) {
  while (end_ - begin_ >= header_bytes) {
    if (ended_) return frame_error::bytes_after_shutdown;
    message_header header;
    std::memcpy(&header, buffer_.get() + begin_, header_bytes);
    if (const auto error = check_header(header, limits_)) return error;
    if (header.kind > message_kind::reply) {  // a shutdown: check_header lets no other kind pass
      ended_ = true;
      begin_ += header_bytes;
      continue;
    }
    if (end_ - begin_ < header_bytes + header.payload_bytes) {
      if (header.payload_bytes >= direct_bytes_min) begin_direct(header);
      break;
    }
    message_ptr m = make_message(header.payload_bytes);
    std::memcpy(m->body() - header_bytes, buffer_.get() + begin_, header_bytes + header.payload_bytes);
    begin_ += header_bytes + header.payload_bytes;
    arrived.push_back(std::move(m));
  }
  if (ended_ && begin_ != end_) return frame_error::bytes_after_shutdown;
  if (begin_ != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return std::nullopt;
}

void frame_reader::begin_direct(const message_header& header) {
  partial_ = make_message(header.payload_bytes);
  partial_->header = header;
  partial_bytes_ = end_ - begin_ - header_bytes;
  std::memcpy(partial_->body(), buffer_.get() + begin_ + header_bytes, partial_bytes_);
  begin_ = end_ = 0;
}

}  // namespace nacre::transport::tcp
