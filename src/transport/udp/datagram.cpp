// SPDX-License-Identifier: Apache-2.0
// The layout of a datagram: a tag, a head, the ranges that it acknowledges, and bytes of one channel's stream.
#include "transport/udp/datagram.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include <nacre/assert.hpp>

namespace nacre::transport::udp {
namespace {

/// The head as it travels. Both sides run one executable on little-endian processors, so it is copied from memory.
struct head {
  std::uint64_t number = 0;
  std::uint64_t acknowledged_end = 0;  // one above the newest received number; 0: none
  std::uint64_t offset = 0;
  std::uint32_t ack_delay_us = 0;
  datagram_kind kind = datagram_kind::acknowledgement;
  channel stream_channel = channel::system;
  std::uint8_t ranges = 0;
  std::uint8_t reserved = 0;
};
static_assert(std::endian::native == std::endian::little);
static_assert(tag_bytes + sizeof(head) == unreliable_head_bytes);
static_assert(std::has_unique_object_representations_v<head>, "padding would carry stray bytes");

/// A range as it travels, seen from the range above it, or from acknowledged_end.
struct range {
  std::uint32_t missing = 0;  // numbers between this range and the one above it; 0 in the first
  std::uint32_t count = 0;    // numbers in it
};

constexpr std::uint64_t count_max = std::numeric_limits<std::uint32_t>::max();

bool makes_sense(const head& head) noexcept {
  return head.number != std::numeric_limits<std::uint64_t>::max() && head.kind <= datagram_kind::ping &&
         head.stream_channel <= channel::bulk && head.ranges <= ack_ranges_max &&
         (head.ranges == 0) == (head.acknowledged_end == 0) && head.reserved == 0;
}

/// False: the ranges do not lie below each other, or reach below 0.
bool read_ranges(const head& head, std::span<const std::byte> bytes, ack_ranges& ack_ranges) noexcept {
  std::uint64_t above = head.acknowledged_end;
  ack_ranges.count = 0;
  for (std::size_t i = 0; i < head.ranges; ++i) {
    range each;
    std::memcpy(&each, bytes.data() + i * sizeof each, sizeof each);
    if ((i == 0) != (each.missing == 0) || each.count == 0) return false;
    if (above < std::uint64_t{each.missing} + each.count) return false;
    const std::uint64_t end = above - each.missing;
    ack_ranges.each[ack_ranges.count++] = {.begin = end - each.count, .end = end};
    above = end - each.count;
  }
  return true;
}

}  // namespace

std::size_t overhead_of(std::size_t ranges) noexcept { return tag_bytes + sizeof(head) + ranges * sizeof(range); }

std::size_t write_head(const datagram& datagram, std::span<std::byte> target) noexcept {
  NACRE_ASSERT(target.size() >= overhead_of(datagram.acknowledged.size()), "there is room for the head");
  head front{.number = datagram.number,
             .offset = datagram.offset,
             .ack_delay_us = datagram.ack_delay_us,
             .kind = datagram.kind,
             .stream_channel = datagram.stream_channel};
  std::uint64_t above = datagram.acknowledged.empty() ? 0 : datagram.acknowledged[0].end;
  front.acknowledged_end = above;
  std::byte* position = target.data() + tag_bytes + sizeof front;
  for (const number_range& received : datagram.acknowledged) {
    if (above - received.end > count_max) break;  // as far away as this, nothing is in flight any more
    const std::uint64_t count = std::min(received.end - received.begin, count_max);
    const range each{.missing = static_cast<std::uint32_t>(above - received.end),
                     .count = static_cast<std::uint32_t>(count)};
    std::memcpy(position, &each, sizeof each);
    position += sizeof each;
    ++front.ranges;
    above = received.end - count;
    if (count != received.end - received.begin) break;  // the rest of it is as old
  }
  std::memcpy(target.data() + tag_bytes, &front, sizeof front);
  return static_cast<std::size_t>(position - target.data());
}

std::optional<datagram> read_datagram(std::span<const std::byte> bytes, ack_ranges& ranges,
                                      std::size_t apart_bytes) noexcept {
  if (bytes.size() < overhead_of(0)) return std::nullopt;
  head front;
  std::memcpy(&front, bytes.data() + tag_bytes, sizeof front);
  if (!makes_sense(front) || bytes.size() < overhead_of(front.ranges)) return std::nullopt;
  datagram result{.number = front.number,
                  .kind = front.kind,
                  .stream_channel = front.stream_channel,
                  .ack_delay_us = front.ack_delay_us,
                  .offset = front.offset,
                  .bytes = bytes.subspan(overhead_of(front.ranges))};
  if (!read_ranges(front, bytes.subspan(overhead_of(0)), ranges)) return std::nullopt;
  result.acknowledged = ranges.view();
  const std::size_t rest = result.bytes.size() + apart_bytes;
  if (result.kind == datagram_kind::stream && rest == 0) return std::nullopt;
  if (result.kind == datagram_kind::acknowledgement && rest != 0) return std::nullopt;
  if (result.offset > std::numeric_limits<std::uint64_t>::max() - rest) return std::nullopt;
  return result;
}

bool is_unreliable(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= unreliable_head_bytes &&
         bytes[tag_bytes + offsetof(head, kind)] == static_cast<std::byte>(datagram_kind::unreliable);
}

void write_unreliable_head(const unreliable_head& unreliable_head, std::span<std::byte> target) noexcept {
  NACRE_ASSERT(target.size() >= unreliable_head_bytes, "there is room for the head");
  const head front{
      .number = unreliable_head.number, .offset = unreliable_head.label, .kind = datagram_kind::unreliable};
  std::memcpy(target.data() + tag_bytes, &front, sizeof front);
}

std::optional<unreliable_head> read_unreliable_head(std::span<const std::byte> bytes) noexcept {
  if (!is_unreliable(bytes)) return std::nullopt;
  head front;
  std::memcpy(&front, bytes.data() + tag_bytes, sizeof front);
  const unreliable_head result{.number = front.number, .label = static_cast<std::uint32_t>(front.offset)};
  const head expected{.number = result.number, .offset = result.label, .kind = datagram_kind::unreliable};
  if (std::memcmp(&front, &expected, sizeof front) != 0) return std::nullopt;
  if (front.number == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return result;
}

std::uint64_t number_of(std::span<const std::byte> bytes) noexcept {
  NACRE_ASSERT(bytes.size() >= overhead_of(0), "there is a head");
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + tag_bytes, sizeof number);
  return number;
}

}  // namespace nacre::transport::udp
