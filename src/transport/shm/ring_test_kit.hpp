// SPDX-License-Identifier: Apache-2.0
// A ring in ordinary memory, and messages for it, for tests of its two ends.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "transport/shm/ring_reader.hpp"
#include "transport/shm/ring_writer.hpp"

namespace nacre::transport::shm {

inline constexpr std::uint64_t small_ring = 4096;  // 16 slots, fragments of 1024 bytes
inline constexpr std::size_t enough = 1000;        // messages

/// The memory of one ring, all zero.
class ring_memory {
 public:
  explicit ring_memory(std::uint64_t data_bytes) : sizes_{.ranks = 1, .data_bytes = data_bytes} {
    pages_.resize(sizes_.segment_bytes() / page_bytes);
  }
  [[nodiscard]] ring_view view() { return sizes_.ring(pages_.front().bytes, 0, 0); }

 private:
  struct alignas(page_bytes) page {
    std::byte bytes[page_bytes] = {};
  };
  geometry sizes_;
  std::vector<page> pages_;
};

inline constexpr std::uint32_t test_payload_bytes_max = 4u << 20;

inline reader_limits test_limits(bool fetches = true) {
  return {.ranks = 8,
          .ring_channel = channel::application,
          .payload_bytes_max = test_payload_bytes_max,
          .writer = fetches ? ::getpid() : 0};
}

/// A message with its number in the header and in every byte.
inline message_ptr numbered(std::uint32_t number, std::size_t bytes) {
  message_ptr m = make_message(bytes);
  m->header.sequence = number;
  std::memset(m->body(), static_cast<int>(number % 251), bytes);
  return m;
}
inline bool is_numbered(const message& m, std::uint32_t number, std::size_t bytes) {
  if (m.header.sequence != number || m.header.payload_bytes != bytes) return false;
  for (const std::byte each : m.payload()) {
    if (each != static_cast<std::byte>(number % 251)) return false;
  }
  return true;
}

}  // namespace nacre::transport::shm
