// SPDX-License-Identifier: Apache-2.0
// Cuts a byte stream into frames, each behind its length in 4 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <nacre/expected.hpp>

namespace nacre::launch {

/// Both directions of one connection, without I/O. One thread.
class frame_stream {
 public:
  /// A longer frame is an error. There is room for the addresses of all ranks that a launcher may start.
  static constexpr std::size_t frame_bytes_max = 1u << 20;

  /// Appends a frame of that length to the outgoing bytes; the caller fills it in before its next call.
  [[nodiscard]] std::span<std::byte> append(std::size_t bytes);
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept { return std::span(outgoing_).subspan(sent_); }
  void sent(std::size_t bytes) noexcept;

  void received(std::span<const std::byte> bytes);
  /// The next complete frame, valid until the next call of received or next; nothing while there is none; an error, as
  /// a clause, when its length is not allowed.
  [[nodiscard]] expected<std::optional<std::span<const std::byte>>, std::string_view> next();

 private:
  std::vector<std::byte> outgoing_;
  std::size_t sent_ = 0;
  std::vector<std::byte> incoming_;
  std::size_t taken_ = 0;  // of incoming_
};

}  // namespace nacre::launch
