// SPDX-License-Identifier: Apache-2.0
// What bin/objects measures, each figure by itself.
#pragma once

#include <cstdint>

#include <nacre/nacre.hpp>

namespace objects {

/// Time a message takes, of a stream from main to 1000 objects in turn that another thread runs.
[[nodiscard]] double other_worker_ns(std::uint64_t messages);

struct crowd {
  double create_seconds, bytes_at_rest, bytes_after_message, first_message_ns, later_message_ns;
};
/// Many empty objects on one rank with one worker; one of their kind sends a message to each, a few in a turn.
[[nodiscard]] crowd measure_crowd(std::uint64_t count);

/// Time of a message to all elements of an array of so many, on one rank with one worker, for each element.
[[nodiscard]] double broadcast_ns(std::uint64_t count);

/// A wait for quiescence while nothing happens on two ranks of this process.
[[nodiscard]] double idle_quiescence_us();

// Floors and rivals, without Nacre.

/// A std::unordered_map of std::unique_ptr with as many objects; messages are virtual calls.
[[nodiscard]] crowd measure_map(std::uint64_t count);
/// A loop of virtual calls over as many objects, by a std::vector of std::unique_ptr, for each.
[[nodiscard]] double virtual_calls_ns(std::uint64_t count);
/// A closure through a std::deque under a std::mutex, in one thread.
[[nodiscard]] double locked_queue_ns(std::uint64_t messages);
/// So many bytes copied by memcpy, from one place to another.
[[nodiscard]] double copy_us(std::uint32_t bytes);
/// Two threads that meet, both polling.
[[nodiscard]] double meeting_us();

}  // namespace objects
