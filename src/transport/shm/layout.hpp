// SPDX-License-Identifier: Apache-2.0
// How a segment of shared memory is divided into rings, and rings into slots.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <nacre/message.hpp>

#include "base/cache_line.hpp"

namespace nacre::transport::shm {

inline constexpr std::uint32_t ranks_max = 4096;
inline constexpr std::size_t page_bytes = 4096;

/// The content of a slot. Zero: the slot has never been written.
enum class slot_kind : std::uint8_t {
  whole_inline = 1,  ///< a message with its payload in the slot
  whole,             ///< a message; its payload lies next in the data
  fetch,             ///< a message; the reader reads its payload from the sender's memory, and acknowledges it
  begin,             ///< the header of a message; its payload follows in fragments
  fragment,          ///< a fragment: bytes of that payload, next in the data
  shutdown,          ///< nothing more comes through this ring but payloads that could not be fetched
  again              ///< the payload of the oldest message that could not be fetched follows in fragments
};

/// One cache line. A slot is full when its stamp carries the number that the reader waits for, so one transfer of the
/// line brings both the message and the signal that it is there.
struct alignas(cache_line_bytes) slot {
  std::uint64_t stamp = 0;          ///< number of the slot since the job began, from 1, times 256, and slot_kind
  message_header header;            ///< of a fragment: payload_bytes only
  std::uint64_t extra[2] = {0, 0};  ///< the payload, or its address in the sender's memory
};
static_assert(sizeof(slot) == cache_line_bytes && std::is_trivially_copyable_v<slot>);

inline constexpr std::size_t inline_bytes_max = sizeof(slot::extra);
inline constexpr std::size_t slot_words = sizeof(slot) / sizeof(std::uint64_t);

[[nodiscard]] constexpr std::uint64_t make_stamp(std::uint64_t position, slot_kind kind) noexcept {
  return (position + 1) << 8 | static_cast<std::uint64_t>(kind);
}
/// Whether the stamp belongs to the slot at `position`, of any kind.
[[nodiscard]] constexpr bool is_stamp_of(std::uint64_t stamp, std::uint64_t position) noexcept {
  return stamp >> 8 == ((position + 1) & (~std::uint64_t{0} >> 8));
}

/// The bytes of a ring's data that a payload, or a fragment, of `bytes` takes.
[[nodiscard]] constexpr std::uint64_t rounded(std::uint64_t bytes) noexcept {
  return (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
}

/// How the reader of a ring learns of new slots.
enum class attention : std::uint32_t {
  doorbell,  ///< the writer rings the doorbell at the reader's rank
  polled     ///< the reader polls the ring
};

/// Whether the reader of a ring reads payloads from the memory of its writer.
enum class fetching : std::uint32_t {
  never,    ///< it cannot
  offered,  ///< messages of slot_kind::fetch may be sent
  refused   ///< it no longer can: the writer sends again all payloads that have not been fetched
};

/// The words of a ring that its reader writes, and nobody else; the writer reads them.
struct alignas(cache_line_bytes) reader_line {
  std::uint64_t slots_consumed = 0;
  std::uint64_t data_consumed = 0;
  std::uint64_t fetched = 0;   ///< messages of slot_kind::fetch that the sender may release
  std::uint32_t mode = 0;      ///< attention
  std::uint32_t fetching = 0;  ///< shm::fetching
};

/// The words of a ring that its writer writes, for the reader.
struct alignas(cache_line_bytes) writer_line {
  std::uint32_t waits = 0;    ///< 1: the writer asks to be woken when the reader line changes
  std::uint32_t revoked = 0;  ///< 1: payloads that have not been fetched yet are gone
};

/// The regions that a rank has registered for one peer: a state word for each, see memory_copies.hpp. In the segment of
/// the regions' owner.
struct alignas(cache_line_bytes) region_table {
  std::uint64_t able = 0;  ///< 1: the peer can read and write the owner's memory; the peer keeps it up to date
  std::uint64_t words[31] = {};
};

/// The words that a rank shares with all of its senders.
struct segment_head {
  std::uint64_t nonce = 0;  ///< proves that this is the segment that the rank has named
  alignas(cache_line_bytes) std::uint32_t futex_wakeup = 0;                ///< futex: 1 while the rank sleeps
  alignas(cache_line_bytes) std::uint64_t doorbells[ranks_max / 64] = {};  ///< a bit for each sender
};
static_assert(sizeof(segment_head) <= page_bytes);

/// Atomic access to a word of a mapping that two ranks share.
template <class Word>
[[nodiscard]] std::atomic_ref<Word> shared(Word& word) noexcept {
  return std::atomic_ref<Word>(word);
}

/// The parts of one ring, wherever they are mapped.
struct ring_view {
  reader_line* reader = nullptr;
  writer_line* writer = nullptr;
  slot* slots = nullptr;
  std::byte* data = nullptr;
  std::uint64_t slot_count = 0;  ///< powers of two
  std::uint64_t data_bytes = 0;

  /// The longest payload that lies in the data as one fragment: a quarter of the data. The reader announces each
  /// quarter that it has consumed, so the writer always comes to have room for one fragment.
  [[nodiscard]] std::uint64_t fragment_bytes_max() const noexcept { return data_bytes / 4; }
};

/// The sizes of a job's segments, equal for all of its ranks. Each rank owns one segment, through which it receives:
///
/// | offset | content |
/// |---|---|
/// | 0 | segment_head |
/// | page_bytes + (sender * 3 + channel) * ring_bytes() | reader_line, writer_line, slots, data |
/// | behind the rings + peer * sizeof(region_table) | region_table |
///
/// Memory: the system provides a page when it is first written. So a rank costs 4 KiB and, for each sender and channel
/// in use, up to ring_bytes(): 5/4 of data_bytes and a page; and a page for each 16 peers with registered regions.
struct geometry {
  static constexpr std::uint64_t data_bytes_min = 4096;

  std::uint32_t ranks = 0;
  std::uint64_t data_bytes = 0;  ///< of one ring, a power of two

  [[nodiscard]] constexpr std::uint64_t slot_count() const noexcept { return data_bytes / (4 * sizeof(slot)); }
  [[nodiscard]] constexpr std::uint64_t ring_bytes() const noexcept {
    const std::uint64_t bytes = sizeof(reader_line) + sizeof(writer_line) + slot_count() * sizeof(slot) + data_bytes;
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
  }
  [[nodiscard]] constexpr std::uint64_t bytes_of_all_rings() const noexcept {
    return std::uint64_t{ranks} * channel_count * ring_bytes();
  }
  [[nodiscard]] constexpr std::uint64_t regions_bytes() const noexcept { return ranks * sizeof(region_table); }
  [[nodiscard]] constexpr std::uint64_t segment_bytes() const noexcept {
    return page_bytes + bytes_of_all_rings() + regions_bytes();
  }
  [[nodiscard]] region_table* regions(std::byte* segment, std::uint32_t peer) const noexcept {
    return reinterpret_cast<region_table*>(segment + page_bytes + bytes_of_all_rings() + peer * sizeof(region_table));
  }
  [[nodiscard]] ring_view ring(std::byte* segment, std::uint32_t sender, std::size_t on_channel) const noexcept {
    std::byte* const begin = segment + page_bytes + (std::uint64_t{sender} * channel_count + on_channel) * ring_bytes();
    std::byte* const slots = begin + sizeof(reader_line) + sizeof(writer_line);
    return {.reader = reinterpret_cast<reader_line*>(begin),
            .writer = reinterpret_cast<writer_line*>(begin + sizeof(reader_line)),
            .slots = reinterpret_cast<slot*>(slots),
            .data = slots + slot_count() * sizeof(slot),
            .slot_count = slot_count(),
            .data_bytes = data_bytes};
  }

  /// Rings of `wanted` bytes of data, rounded up to a power of two. The rings are smaller, but not below
  /// data_bytes_min, when all rings that lead to one rank would take more than `memory_max`.
  [[nodiscard]] static constexpr geometry fitting(std::uint32_t ranks, std::uint64_t wanted,
                                                  std::uint64_t memory_max) noexcept {
    geometry result{.ranks = ranks, .data_bytes = std::bit_ceil(std::max(wanted, data_bytes_min))};
    while (result.data_bytes > data_bytes_min && result.bytes_of_all_rings() + result.regions_bytes() > memory_max) {
      result.data_bytes /= 2;
    }
    return result;
  }
};

}  // namespace nacre::transport::shm
