// SPDX-License-Identifier: Apache-2.0
// The layout of trace files, which docs/tracing.md explains. All numbers are little-endian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/fnv1a.hpp"

namespace nacre::trace {

static_assert(std::endian::native == std::endian::little, "trace files are written as they stand in memory");

inline constexpr std::array<char, 8> file_magic{'N', 'A', 'C', 'R', 'E', 'T', 'R', 'C'};
inline constexpr std::uint32_t file_version = 4;
inline constexpr std::uint32_t block_bytes_max = 64u << 20;  // before compression

struct file_head {
  std::array<char, 8> magic = file_magic;
  std::uint32_t version = file_version;
  std::uint32_t flags = 0;  // none is defined
};
static_assert(std::has_unique_object_representations_v<file_head>);

enum class block_kind : std::uint32_t {
  job = 1,     ///< JSON: the description of the job, the same for all ranks
  rank = 2,    ///< JSON: the description of a rank of this file; precedes the rank's other blocks
  clock = 3,   ///< JSON: one instant by the clocks of a rank; at its start, and at its end if it got that far
  events = 4,  ///< events of one thread, in the order of time
  phase = 5    ///< JSON: the name of a phase of a rank; precedes the events that have its number
};

/// The head of each block. The payload behind it is a zstd frame with a checksum of its own.
struct block_head {
  block_kind kind = block_kind::job;
  std::uint32_t rank = 0;
  std::uint32_t thread = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t check = 0;       // check_of() of the other fields
  std::uint64_t first_tick = 0;  // of a block of events: the tick from which the first event counts
};
static_assert(std::has_unique_object_representations_v<block_head> && sizeof(block_head) == 32);

/// The FNV-1a hash of a head, with its field `check` taken as zero.
[[nodiscard]] inline std::uint32_t check_of(block_head head) noexcept {
  head.check = 0;
  std::array<unsigned char, sizeof head> bytes;
  std::memcpy(bytes.data(), &head, sizeof head);
  fnv1a<std::uint32_t> hash;
  for (const unsigned char each : bytes) hash.add(each);
  return hash.value();
}

}  // namespace nacre::trace
