// SPDX-License-Identifier: Apache-2.0
// Cells of a profile as bytes: numbers of 7 bits a byte, the lowest first; a zero is followed by how many more come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace nacre::emulator {

/// Appends cells to bytes. A run of zeros is written as two numbers: a zero, and how many follow.
class cell_encoder {
 public:
  void put(std::uint64_t cell) {
    if (cell == 0) return idle(1);
    end_zeros();
    number(cell);
  }
  /// Puts so many zeros.
  void idle(std::uint64_t cells) noexcept { zeros_ += cells; }
  /// All that was put.
  [[nodiscard]] std::vector<std::byte> take() {
    end_zeros();
    return std::exchange(bytes_, {});
  }

 private:
  void end_zeros() {
    if (zeros_ == 0) return;
    number(0);
    number(std::exchange(zeros_, 0) - 1);
  }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }

  std::vector<std::byte> bytes_;
  std::uint64_t zeros_ = 0;
};

/// Reads cells one by one from bytes that nobody has checked.
class cell_decoder {
 public:
  explicit cell_decoder(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  /// Skips rows of so many cells each that are known to be zeros, and returns their number.
  [[nodiscard]] std::uint64_t skip_rows(std::uint64_t cells) noexcept {
    const std::uint64_t rows = zeros_ / cells;
    zeros_ -= rows * cells;
    return rows;
  }
  /// The next cell; nothing when the bytes end too early, or no encoder could have written them.
  [[nodiscard]] std::optional<std::uint64_t> next() noexcept {
    if (zeros_ != 0) {
      --zeros_;
      return 0;
    }
    const auto cell = number();
    if (!cell || *cell != 0) return cell;
    const auto more = number();
    if (!more) return std::nullopt;
    zeros_ = *more;
    return 0;
  }
  /// Whether nothing is left.
  [[nodiscard]] bool ended() const noexcept { return zeros_ == 0 && bytes_.empty(); }

 private:
  [[nodiscard]] std::optional<std::uint64_t> number() noexcept {
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < bytes_.size() && k < 10; ++k) {
      const auto byte = static_cast<std::uint64_t>(bytes_[k]);
      value |= (byte & 0x7f) << (7 * k);
      if (byte >= 0x80) continue;
      bytes_ = bytes_.subspan(k + 1);
      return value;
    }
    return std::nullopt;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t zeros_ = 0;
};

}  // namespace nacre::emulator
