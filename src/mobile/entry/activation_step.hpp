// SPDX-License-Identifier: Apache-2.0
// One step of an entry's activation, as the parts of the object layer hand it to each other.
#pragma once

#include <cstdint>

#include "exec/thread_context.hpp"
#include "mobile/entry/object_entry.hpp"

namespace nacre {

// Internal kinds of message in an inbox. No clash: all others there are messages to objects.
constexpr message_kind news_of_end = message_kind::module;
constexpr message_kind may_collect = message_kind::rank;
constexpr message_kind end_of_wait = message_kind::reply;
constexpr message_kind look_again = message_kind::credit;

/// How a step ends. `spent`: a handler spent simulated time; the step goes on afterwards. `spent_all`: the time of the
/// whole step is spent; the activation is given up afterwards. `parked`: a coroutine handler has the object and awaits
/// a message to it; the activation is given up, so that the message can come. `held`: the messages lie at the object
/// until the hold for an image ends; the activation is given up, too.
enum class step_end : std::uint8_t { empty, yielded, spent, spent_all, blocked, left_to_reader, parked, held };

/// The thread that has it holds the activation.
struct activation_step {
  object_entry& entry;
  thread_context& thread;
  message_list pending{};  ///< in sequence, not run yet
  std::uint32_t ran = 0;   ///< messages that this step has begun to run
  /// The balancer's wish waits for shared coroutines, the last of which brings it up again.
  bool wish_waits = false;
  /// Takes the messages that wait in the entry.
  void take_up() noexcept {
    if (object_entry_extra* const extra = entry.extra(); extra != nullptr) pending.append(extra->pending);
  }
  /// Puts the waiting messages back for the next step; before the activation is given back with messages left.
  void put_back() {
    if (!pending.empty()) entry.need_extra().pending.append(pending);
  }
};

}  // namespace nacre
