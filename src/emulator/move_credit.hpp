// SPDX-License-Identifier: Apache-2.0
// Whether a block has worked long enough where it is to be worth a move.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nacre::emulator {

/// In each window one rank is idle first and asks for work, however even the load is. A block that then moves delays
/// the end of the window for all blocks. So a block moves only after it has worked `share` times as long as the move
/// takes: a block of a machine of millions of busy threads packs to tens of megabytes.
class move_credit {
 public:
  static constexpr double share = 16;                 ///< moves take less than a sixteenth of the time
  static constexpr double seconds_a_byte = 4e-9;      ///< to pack, to send and to unpack
  static constexpr double seconds_a_handler = 50e-9;  ///< at least: in simulated time handlers may take no time

  void add(double seconds, std::uint64_t handlers) noexcept {
    worked_ += std::max(seconds, seconds_a_handler * static_cast<double>(handlers));
  }
  [[nodiscard]] bool covers(std::uint64_t packed_bytes) const noexcept {
    return worked_ >= share * seconds_a_byte * static_cast<double>(packed_bytes);
  }

 private:
  double worked_ = 0;  ///< seconds since the block has come
};

}  // namespace nacre::emulator
