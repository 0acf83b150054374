// SPDX-License-Identifier: Apache-2.0
// How many messages of a size are exchanged: equal for the floors, the rungs and raw MPI, so that they can be compared.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nacre::calibration {

/// One run of a rung at a size takes so many batches; the fastest one counts, since others share the machine.
constexpr int batches_of(std::size_t bytes) { return bytes <= 4096 ? 20 : 10; }

/// Where it can, a run at a size takes no further batch after this time, for round trips and for streams each, but
/// so many at least.
inline constexpr double phase_seconds = 0.06;
inline constexpr int batches_least = 3;

/// Round trips in a batch.
constexpr int trips_of(std::size_t bytes) {
  return bytes <= 4096 ? 250 : bytes <= 65536 ? 40 : bytes <= 524288 ? 8 : 4;
}

/// Messages one way in a row, after which 8 bytes come back.
constexpr int stream_of(std::size_t bytes) {
  return bytes <= 1024 ? 1000 : bytes <= 16384 ? 100 : bytes <= 65536 ? 32 : bytes <= 1048576 ? 16 : 4;
}

/// Such streams in a batch.
constexpr int streams_of(std::size_t bytes) { return bytes <= 65536 ? 2 : 1; }

/// Size of the answer to a stream.
inline constexpr std::size_t answer_bytes = 8;

}  // namespace nacre::calibration
