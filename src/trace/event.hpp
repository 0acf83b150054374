// SPDX-License-Identifier: Apache-2.0
// The events of a thread in a trace: their kinds, and their encoding in a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nacre::trace {

/// The kinds of events on a thread. Events that begin something nest; `end` ends the innermost. The numbers are part of
/// the file format.
enum class event_kind : std::uint8_t {
  end = 0,
  handler_begin = 1,  ///< a: handler; of the program
  module_begin = 2,   ///< a: handler; of the runtime itself
  resume_begin = 3,   ///< a: handler; a suspended coroutine resumes
  idle_begin = 4,     ///< the worker has found nothing to run
  main_begin = 5,     ///< the application's main runs, until it waits
  write_begin = 6,    ///< the thread writes this trace
  send = 7,           ///< a: destination rank, b: bytes, header included
  steal = 8,          ///< a: items taken from other thread contexts, b: number of the victim + 1; 0: not known
  depart = 9,         ///< a: object, b: destination rank, c: epoch of its new location
  arrive = 10,        ///< a: object, b: source rank, c: epoch of its new location
  create = 11,        ///< a: object
  wave = 12,          ///< this rank has given its counters to a wave of termination detection; see quiescence/
  quiet = 13,         ///< quiescence has been declared to this rank
  // Two kinds that are in files alone: several short handlers of one kind have shared readings of the clock; see
  // recorder. trace_log gives its readers the handlers one by one.
  ends = 14,          ///< a: handlers that end: the innermost and its like that followed; b: ticks of the first
  ends_of_last = 15,  ///< as `ends`, but all handlers except the last were as short as the first
  phase_begin = 16,   ///< a: phase, in files the number that its rank has given it
  phase_resume = 17,  ///< a: phase; it goes on after a wait
  // A message of which the program wants a line. The sender's rank, the receiver's rank and the number tell it apart
  // from all others.
  message_departs = 18,  ///< a: number, b: destination rank, c: handler
  message_arrives = 19   ///< a: number, b: source rank, c: bytes
};
inline constexpr std::size_t event_kinds = 20;
inline constexpr std::uint32_t sharers_max = 16;  ///< most handlers that share readings of the clock

/// The number of arguments after the kind and the time, by kind.
inline constexpr std::array<std::uint8_t, event_kinds> argument_counts{0, 1, 1, 1, 0, 0, 0, 2, 2, 3,
                                                                       3, 1, 0, 0, 2, 2, 1, 1, 3, 3};

[[nodiscard]] constexpr bool is_phase(event_kind kind) noexcept {
  return kind == event_kind::phase_begin || kind == event_kind::phase_resume;
}
/// Whether an event begins something that a later `end` ends.
[[nodiscard]] constexpr bool begins(event_kind kind) noexcept {
  return (kind != event_kind::end && kind < event_kind::send) || is_phase(kind);
}

/// An event is one byte for the kind, then numbers: the ticks since the event before, and the arguments. A number has 7
/// bits a byte, the lowest first; bit 7 says that more bytes follow.
inline constexpr std::size_t number_bytes_max = 10;
inline constexpr std::size_t event_bytes_max = 1 + 4 * number_bytes_max;

/// An event that has been read. `ns` counts from the start of the job, and may be a little negative on other hosts.
struct event {
  std::int64_t ns = 0;
  event_kind kind = event_kind::end;
  std::uint64_t a = 0, b = 0, c = 0;
};

}  // namespace nacre::trace
