// SPDX-License-Identifier: Apache-2.0
// Decodes events from bytes that may be any.
#include "trace/decoding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace nacre::trace {
namespace {

/// Reads a number. Returns false if the bytes end before it does, or if it is too long.
bool take_number(std::span<const std::byte>& bytes, std::uint64_t& number) {
  number = 0;
  for (std::size_t index = 0; index < bytes.size() && index < number_bytes_max; ++index) {
    const auto each = static_cast<std::uint64_t>(bytes[index]);
    number |= (each & 0x7f) << (7 * index);
    if (each < 0x80) {
      bytes = bytes.subspan(index + 1);
      return true;
    }
  }
  return false;
}

/// Reads an event but for its time. `since` becomes the ticks since the event before.
bool take_event(std::span<const std::byte>& bytes, event& one, std::uint64_t& since) {
  const auto kind = static_cast<std::size_t>(bytes.front());
  bytes = bytes.subspan(1);
  one = {.kind = static_cast<event_kind>(kind)};
  bool whole = kind < event_kinds && take_number(bytes, since);
  const std::array<std::uint64_t*, 3> arguments{&one.a, &one.b, &one.c};
  for (std::size_t index = 0; whole && index < argument_counts[kind]; ++index) {
    whole = take_number(bytes, *arguments[index]);
  }
  return whole;
}

bool names_ranks_of(std::uint32_t ranks, const event& one) {
  const bool to_rank = one.kind == event_kind::send;
  const bool moves = one.kind == event_kind::depart || one.kind == event_kind::arrive ||
                     one.kind == event_kind::message_departs || one.kind == event_kind::message_arrives;
  return (!to_rank || one.a < ranks) && (!moves || one.b < ranks);
}

/// The begin of a handler; kind `end` stands for none.
struct opening {
  std::uint64_t tick = 0;
  event_kind kind = event_kind::end;
  std::uint64_t handler = 0;
};

/// Adds to `events` the handlers that have shared readings of the clock, from the begin of the first, which `events`
/// has, to tick `end`. Four values are known and kept: the begin and end of the first, the end of the last, and their
/// number. The others are made as long as the first and are spread evenly. If one of them must have been long, that is
/// taken to be the last. `sent` is the tick of the last message, which the first has sent. Returns false if no handlers
/// can be like this.
bool part_sharers(const tick_clock& time, const opening& first, const event& told, std::uint64_t sent,
                  std::uint64_t end, std::vector<event>& events) {
  if (first.kind == event_kind::end || told.a < 2 || told.a > sharers_max) return false;
  const std::uint64_t others = told.a - 1,
                      begun = first.tick + std::min(std::max(told.b, sent - first.tick), end - first.tick);
  const std::uint64_t all = end - begun, each = std::min(told.b, all / others);
  events.push_back({time.ns(begun), event_kind::end});
  for (std::uint64_t index = 1; index <= others; ++index) {
    std::uint64_t source = begun + each * (index - 1), target = index == others ? end : source + each;
    if (told.kind == event_kind::ends) {
      target = begun + all / others * index + all % others * index / others;
      source = target - each;
    }
    events.push_back({time.ns(source), first.kind, first.handler});
    events.push_back({time.ns(target), event_kind::end});
  }
  return true;
}

}  // namespace

/// The clamp prevents an overflow for any values in a file.
std::int64_t tick_clock::ns(std::uint64_t tick) const {
  const auto passed = static_cast<double>(static_cast<std::int64_t>(tick - zero_tick));
  return std::llround(std::clamp(zero_ns + passed * ns_a_tick, -9e18, 9e18));
}

bool decode_events(std::span<const std::byte> bytes, std::uint64_t first_tick, const tick_clock& time,
                   std::uint32_t ranks, std::vector<event>& events) {
  std::uint64_t tick = first_tick, since = 0;
  opening last;  // the last begin, if only messages have come since
  event one;
  events.clear();
  while (!bytes.empty()) {
    if (!take_event(bytes, one, since) || !names_ranks_of(ranks, one)) return false;
    const std::uint64_t previous = std::exchange(tick, tick + since);
    if (one.kind == event_kind::ends || one.kind == event_kind::ends_of_last) {
      if (!part_sharers(time, last, one, previous, tick, events)) return false;
      last = {};
      continue;
    }
    one.ns = time.ns(tick);
    events.push_back(one);
    if (one.kind == event_kind::send) continue;
    const bool begins = one.kind >= event_kind::handler_begin && one.kind <= event_kind::resume_begin;
    last = begins ? opening{tick, one.kind, one.a} : opening{};
  }
  return true;
}

}  // namespace nacre::trace
