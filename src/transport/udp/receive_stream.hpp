// SPDX-License-Identifier: Apache-2.0
// The bytes from one peer on one channel: puts them in order and cuts them into messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <nacre/message.hpp>

#include "transport/frame.hpp"

namespace nacre::transport::udp {

/// Cuts bytes that are in order into messages.
///
/// | state | bytes arrive | next |
/// |---|---|---|
/// | in a header | all of it: check_header accepts it | in a payload; in a header if there is none |
/// | in a payload | the rest of it: the message is complete | in a header |
/// | any | a header that check_header rejects | failed, for ever |
class frame_assembler {
 public:
  explicit frame_assembler(const frame_limits& limits) : limits_(limits) {}

  /// Appends the messages that these bytes complete, also those before an error. Returns the error, if any.
  [[nodiscard]] std::optional<frame_error> add(std::span<const std::byte> bytes, message_list& arrived);
  /// Where the rest of the payload belongs; empty: in a header. What lies there does not count before add_written.
  [[nodiscard]] std::span<std::byte> place() noexcept;
  /// The next bytes have been written to the front of `place`.
  void add_written(std::size_t bytes, message_list& arrived) noexcept;

 private:
  [[nodiscard]] std::optional<frame_error> end_header();

  frame_limits limits_;
  std::array<std::byte, sizeof(message_header)> header_{};
  std::size_t header_bytes_ = 0;  // that have arrived
  message_ptr partial_;           // null: in a header
  std::size_t partial_bytes_ = 0;
  std::optional<frame_error> failed_;
};

/// The receiver's window. Invariant: bytes below `next_` have been given to the assembler once, in order; early bytes
/// lie in `early_`, each once, in [next_, next_ + send_stream::window_bytes). So early bytes take no more memory than
/// the window.
class receive_stream {
 public:
  explicit receive_stream(const frame_limits& limits) : frames_(limits) {}

  /// Whether the sender's window permits these bytes. A sender that exceeds it is broken.
  [[nodiscard]] bool within_window(std::uint64_t offset, std::size_t bytes) const noexcept;
  /// Takes bytes that are within the window, and appends the messages that are complete now.
  [[nodiscard]] std::optional<frame_error> add(std::uint64_t offset, std::span<const std::byte> bytes,
                                               message_list& arrived);
  /// Where the bytes from `next` on belong, until something is added; empty: unknown.
  [[nodiscard]] std::span<std::byte> place() noexcept {
    return early_.empty() ? frames_.place() : std::span<std::byte>();
  }
  /// As `add`, for bytes from `next` on, the first of which, so many, have been written to the front of `place`.
  [[nodiscard]] std::optional<frame_error> add_written(std::size_t written, std::span<const std::byte> rest,
                                                       message_list& arrived);
  [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
  [[nodiscard]] bool waits_for_bytes() const noexcept { return !early_.empty(); }

 private:
  void keep(std::uint64_t offset, std::span<const std::byte> bytes);

  frame_assembler frames_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, std::vector<std::byte>> early_;  // by offset, apart from each other
};

}  // namespace nacre::transport::udp
