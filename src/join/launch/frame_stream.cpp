// SPDX-License-Identifier: Apache-2.0
// Cuts a byte stream into frames, each behind its length in 4 bytes.
#include "join/launch/frame_stream.hpp"

#include <cstring>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre::launch {
namespace {
using length_prefix = std::uint32_t;
}

std::span<std::byte> frame_stream::append(std::size_t bytes) {
  NACRE_EXPECT(bytes <= frame_bytes_max, "a control message is short");
  const auto length = static_cast<length_prefix>(bytes);
  const std::size_t begin = outgoing_.size();
  outgoing_.resize(begin + sizeof length + bytes);
  std::memcpy(outgoing_.data() + begin, &length, sizeof length);
  return std::span<std::byte>(outgoing_).subspan(begin + sizeof length);
}

void frame_stream::sent(std::size_t bytes) noexcept {
  sent_ += bytes;
  if (sent_ < outgoing_.size()) return;
  std::vector<std::byte>().swap(outgoing_);  // a roster is long, and the connection lasts as long as the job
  sent_ = 0;
}

void frame_stream::received(std::span<const std::byte> bytes) {
  incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_, 0)));
  incoming_.insert(incoming_.end(), bytes.begin(), bytes.end());
}

expected<std::optional<std::span<const std::byte>>, std::string_view> frame_stream::next() {
  const auto rest = std::span<const std::byte>(incoming_).subspan(taken_);
  length_prefix length = 0;
  if (rest.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, rest.data(), sizeof length);
  if (length > frame_bytes_max) return unexpected(std::string_view("sent a control message that is too long"));
  if (rest.size() < sizeof length + length) return std::nullopt;
  taken_ += sizeof length + length;
  return std::optional(rest.subspan(sizeof length, length));
}

}  // namespace nacre::launch
