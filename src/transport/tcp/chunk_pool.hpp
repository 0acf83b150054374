// SPDX-License-Identifier: Apache-2.0
// The memory through which the links of an endpoint read and write, and which goes from one to the other.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

namespace nacre::transport::tcp {

/// Chunks of one size. A link takes one when bytes come or must wait, and gives it back when none are left in it, so
/// that the memory of an endpoint follows the links that are busy at one time, not all that have ever been. One thread.
class chunk_pool {
 public:
  static constexpr std::size_t chunk_bytes = 64 * 1024;
  using chunk = std::unique_ptr<std::byte[]>;

  /// Never null; uninitialised.
  [[nodiscard]] chunk take() {
    ++used_;
    if (count_ > 0) return std::move(kept_[--count_]);
    return std::make_unique_for_overwrite<std::byte[]>(chunk_bytes);
  }
  void give_back(chunk returned) noexcept {
    --used_;
    if (count_ < kept_.size()) kept_[count_++] = std::move(returned);
  }
  /// How many are in use.
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

 private:
  std::array<chunk, 8> kept_;
  std::size_t count_ = 0;  // in kept_
  std::size_t used_ = 0;
};

}  // namespace nacre::transport::tcp
