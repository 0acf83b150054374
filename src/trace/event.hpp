// SPDX-License-Identifier: Apache-2.0
// What a trace tells of a thread: the kinds of events, and how they stand in a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nacre::trace {

/// What has happened on a thread. Those that begin something nest; `end` ends the innermost. The numbers are part of the
/// file format.
enum class event_kind : std::uint8_t {
  end = 0,
  handler_begin = 1,  ///< a: handler; of the program
  module_begin = 2,   ///< a: handler; of the runtime itself
  resume_begin = 3,   ///< a: handler; a coroutine that has waited goes on
  idle_begin = 4,     ///< the worker has found nothing to run
  main_begin = 5,     ///< the application's main runs, until it waits
  write_begin = 6,    ///< the thread writes this trace
  send = 7,           ///< a: to which rank, b: bytes, header included
  steal = 8,    ///< a: items taken where other thread contexts had put them, b: from which thread, and 1; 0: not known
  depart = 9,   ///< a: object, b: to which rank, c: epoch of the location it has from then on
  arrive = 10,  ///< a: object, b: from which rank, c: that epoch
  create = 11,  ///< a: object
  wave = 12,    ///< this rank has told a wave of termination detection what it has counted; see quiescence/
  quiet = 13,   ///< this rank has been told of quiescence
  // In files alone, where several short handlers of one kind have shared readings of the clock; see recorder. Readers
  // of a trace_log are given the handlers one by one.
  ends = 14,         ///< as many as a, the innermost and those like it that have followed; b: ticks of the first
  ends_of_last = 15  ///< the same, but all of them save the last have been as short as the first
};
inline constexpr std::size_t event_kinds = 16;
inline constexpr std::uint32_t sharers_max = 16;  ///< handlers that share readings of the clock

/// How many numbers follow the kind and the time, by kind.
inline constexpr std::array<std::uint8_t, event_kinds> argument_counts{0, 1, 1, 1, 0, 0, 0, 2, 2, 3, 3, 1, 0, 0, 2, 2};

/// One byte for the kind, then the time since the event before and the arguments, as numbers of 7 bits a byte, the
/// lowest first; bit 7 says that more follow.
inline constexpr std::size_t number_bytes_max = 10;
inline constexpr std::size_t event_bytes_max = 1 + 4 * number_bytes_max;

/// An event that has been read. `ns`: since the start of the job, which may be a little negative on other hosts.
struct event {
  std::int64_t ns = 0;
  event_kind kind = event_kind::end;
  std::uint64_t a = 0, b = 0, c = 0;
};

}  // namespace nacre::trace
