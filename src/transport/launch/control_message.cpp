// SPDX-License-Identifier: Apache-2.0
// What a rank and its launcher say to each other, and the byte stream that carries it.
#include "transport/launch/control_message.hpp"

#include <cstring>
#include <utility>

#include <nacre/archive.hpp>
#include <nacre/assert.hpp>

namespace nacre::transport::launch {

template <class Archive>
void serialize(Archive& ar, joined& m) {
  ar(m.address);
}
template <class Archive>
void serialize(Archive& ar, roster& m) {
  ar(m.addresses);
}
template <class Archive>
void serialize(Archive& ar, lost& m) {
  ar(m.peer, m.reason);
}
template <class Archive>
void serialize(Archive& ar, aborted& m) {
  ar(m.peer, m.reason);
}

namespace {
using length_prefix = std::uint32_t;
}

void control_stream::push(const control_message& m) {
  const std::size_t bytes = packed_size(m);
  NACRE_EXPECT(bytes <= message_bytes_max, "a control message is short");
  const auto length = static_cast<length_prefix>(bytes);
  const std::size_t begin = outgoing_.size();
  outgoing_.resize(begin + sizeof length + bytes);
  writer out(std::span<std::byte>(outgoing_).subspan(begin));
  out(length, m);
}

void control_stream::sent(std::size_t bytes) noexcept {
  sent_ += bytes;
  if (sent_ < outgoing_.size()) return;
  outgoing_.clear();
  sent_ = 0;
}

void control_stream::received(std::span<const std::byte> bytes) {
  incoming_.insert(incoming_.end(), bytes.begin(), bytes.end());
}

expected<std::optional<control_message>, std::string_view> control_stream::pop() {
  length_prefix length = 0;
  if (incoming_.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, incoming_.data(), sizeof length);
  if (length > message_bytes_max) return unexpected(std::string_view("sent a control message that is too long"));
  if (incoming_.size() < sizeof length + length) return std::nullopt;
  auto m = unpack<control_message>(std::span<const std::byte>(incoming_).subspan(sizeof length, length));
  if (!m) return unexpected(std::string_view("sent bytes that are no control message"));
  incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(sizeof length + length));
  return std::optional<control_message>(std::move(*m));
}

}  // namespace nacre::transport::launch
