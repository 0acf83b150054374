// SPDX-License-Identifier: Apache-2.0
// The time for which the threads of each node of a block have worked, by bins of virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/event.hpp"

namespace nacre::emulator {

/// The number of bins that each node has for the whole of virtual time, by the number of nodes of the machine: so many
/// that those of all nodes take 64 MiB, but 8 to 256.
[[nodiscard]] std::uint32_t profile_bins(std::uint64_t nodes) noexcept;
/// The width of bins, as a power of two of nanoseconds, so that they reach up to `end`.
[[nodiscard]] std::uint32_t profile_shift(virtual_time end, std::uint32_t bins) noexcept;

/// Adds up the time of handlers while an emulation runs. When the time of a node passes its last bin, the node makes
/// its bins twice as wide and adds each two of them, which loses nothing: sums of whole nanoseconds do not depend on
/// when that happens. 40 bytes for a node that never works, 8 more a bin for another one. One thread at a time.
class block_profile {
 public:
  block_profile(std::uint32_t nodes, std::uint32_t bins) : rows_(nodes), bins_(bins) {}

  /// A thread of this node of the block has run a handler from `begin` to `end`, which may be the same time.
  void add(std::uint32_t node, virtual_time begin, virtual_time end) {
    row& row = rows_[node];
    ++row.handlers;
    if (begin == end) return;
    if (static_cast<std::uint64_t>(end - 1) >> row.shift >= bins_ || row.cells.empty()) [[unlikely]]
      make_room(row, end);
    const auto first = static_cast<std::size_t>(begin >> row.shift);
    const auto last = static_cast<std::size_t>((end - 1) >> row.shift);
    if (first == last) {
      row.cells[first] += static_cast<std::uint64_t>(end - begin);
      return;
    }
    const virtual_time width = virtual_time{1} << row.shift;
    row.cells[first] += static_cast<std::uint64_t>(static_cast<virtual_time>(first + 1) * width - begin);
    for (std::size_t bin = first + 1; bin < last; ++bin) row.cells[bin] += static_cast<std::uint64_t>(width);
    row.cells[last] += static_cast<std::uint64_t>(end - static_cast<virtual_time>(last) * width);
  }
  /// For each node the number of its handlers, and its nanoseconds by bins of 1 << shift ns; node after node as
  /// cell_encoder writes them. `shift` is large enough that no node's work ends behind its last bin.
  [[nodiscard]] std::vector<std::byte> encode(std::uint32_t shift);

  template <class Archive>
  void serialize(Archive& ar) {
    ar(bins_, rows_);
  }

 private:
  struct row {
    std::vector<std::uint64_t> cells;  ///< nanoseconds by bin; none before the node has worked
    std::uint64_t handlers = 0;
    std::uint32_t shift = 0;  ///< a bin has 1 << shift nanoseconds
    template <class Archive>
    void serialize(Archive& ar) {
      ar(cells, handlers, shift);
    }
  };
  void make_room(row& row, virtual_time end);
  static void widen(row& row);

  std::vector<row> rows_;
  std::uint32_t bins_;
};

}  // namespace nacre::emulator
