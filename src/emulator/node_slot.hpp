// SPDX-License-Identifier: Apache-2.0
// All that a block keeps of one node, beside the clocks of its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "emulator/event.hpp"
#include "machine/input_buffer.hpp"

namespace nacre::emulator {

constexpr std::uint32_t no_thread = ~0u;

/// Messages that wait: first come, first served.
struct waiting_queue {
  std::uint16_t thread = 0;  ///< as event::thread: the threads that they wait for
  std::vector<std::byte> events{};
  std::size_t first = 0;                  ///< offset of the first that still waits
  std::uint32_t next_thread = no_thread;  ///< free first, as far as known when the queue's wake was scheduled

  [[nodiscard]] bool empty() const noexcept { return first == events.size(); }
  [[nodiscard]] const event& front() const noexcept { return *reinterpret_cast<const event*>(events.data() + first); }
  void push(const event& e, std::size_t bytes) {
    const auto* source = reinterpret_cast<const std::byte*>(&e);
    // Many nodes may have long queues at once: a quarter more room for each of them, in place of twice as much.
    if (events.size() + bytes > events.capacity()) events.reserve(events.capacity() + events.capacity() / 4 + bytes);
    events.insert(events.end(), source, source + bytes);
  }
  template <class Archive>
  void save(Archive& ar) const {
    ar(thread, std::vector<std::byte>(events.begin() + static_cast<std::ptrdiff_t>(first), events.end()));
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(thread, events);
  }
  /// Removes the first event, which has so many bytes.
  void pop(std::size_t bytes) {
    first += bytes;
    const bool wasteful = first > (std::size_t{1} << 16) && 2 * first > events.size();
    if (!empty() && !wasteful) return;
    events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(first));
    first = 0;
  }
};

/// Made for a node when a message first has to wait.
struct alignas(64) node_extras {
  std::vector<waiting_queue> waiting;
  machine::input_buffer input;  ///< of packets
  waiting_queue held_back;      ///< packets that the full input buffer keeps in the network
  virtual_time port_free = 0;   ///< when the port out of the node has sent all that it has been given
};

/// Half a line of the cache: a node of which one or two threads run touches nothing else. Zeroed memory is a node that
/// has not run.
struct alignas(32) node_slot {
  static constexpr std::uint32_t clocks = 2;

  node_extras* extras;                ///< null until the node needs them
  std::uint32_t sent;                 ///< events that the node has sent: the number of the next one
  std::uint16_t used;                 ///< no thread of this number or a higher one has run
  virtual_time first_clocks[clocks];  ///< of the threads 0 and 1
};
static_assert(sizeof(node_slot) == 32 && offsetof(node_slot, first_clocks) == 16);
static_assert(std::is_trivial_v<node_slot>);

}  // namespace nacre::emulator
