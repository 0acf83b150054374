// SPDX-License-Identifier: Apache-2.0
// Cuts a byte stream into pieces, each behind its length in 4 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <nacre/expected.hpp>

namespace nacre::transport::launch {

/// Both directions of one connection, without I/O. One thread.
class piece_stream {
 public:
  /// A longer piece is an error: room for the addresses of all ranks that a launcher may start.
  static constexpr std::size_t piece_bytes_max = 1u << 20;

  /// Appends a piece of that length to what is to be sent; the caller fills it in before its next call.
  [[nodiscard]] std::span<std::byte> append(std::size_t bytes);
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept { return std::span(outgoing_).subspan(sent_); }
  void sent(std::size_t bytes) noexcept;

  void received(std::span<const std::byte> bytes);
  /// The next piece that is complete, valid until the next call of received or next; nothing while there is none; a
  /// clause when its length is not allowed.
  [[nodiscard]] expected<std::optional<std::span<const std::byte>>, std::string_view> next();

 private:
  std::vector<std::byte> outgoing_;
  std::size_t sent_ = 0;
  std::vector<std::byte> incoming_;
  std::size_t taken_ = 0;  // of incoming_
};

}  // namespace nacre::transport::launch
