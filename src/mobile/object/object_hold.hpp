// SPDX-License-Identifier: Apache-2.0
// Objects that admit messages and run none, while an image is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <nacre/message.hpp>

#include "am/held_units.hpp"
#include "mobile/entry/activation_step.hpp"

namespace nacre {

/// The hold of docs/protocols/images.md, of the objects of one rank.
///
/// | event | while the hold is on |
/// |---|---|
/// | a message comes to an object | its activation admits it; the message lies, and the activation is given back |
/// | a message comes that somebody awaits | all messages up to this one run |
/// | a coroutine, a shared handler or a main has the object | its messages wait as ever, and do not lie |
/// | messages wait at their sources | they are cleared, and lie at the object |
/// | the hold ends | each object at which messages lie is made ready |
///
/// Invariant: held_units::lying is the number of counted messages that lie at objects. An activation that begins
/// takes the messages of its object out of that number before it does anything else.
class object_hold {
 public:
  explicit object_hold(held_units& units) noexcept : units_(units) {}

  /// Any thread.
  void begin();
  /// Returns the objects at which messages lie: each must be made ready. Any thread.
  [[nodiscard]] std::vector<object_id> end(thread_context& thread);

  // For activations, while the hold is on.
  /// An activation has begun: what lay at the object does not lie any more.
  void take_up(const object_entry& entry);
  /// Whether all messages of the step lie from now on. False: the first one is to run.
  [[nodiscard]] bool keeps(const activation_step& step);

 private:
  held_units& units_;
  /// The messages that wait at an object.
  struct lot {
    bool lies = false;
    const message* last = nullptr;  // the last message looked at, after all before it; null: none
    std::size_t messages = 0;       // number of messages looked at
    std::uint64_t counted = 0;      // how many of these are counted for quiescence
    std::size_t awaited =
        0;  // how many are to run, up to the last one that somebody awaits: a guess, for other messages may run
  };
  static void look(lot& lot, const message_list& pending);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, lot> lots_;  // under mutex_; by object
};

}  // namespace nacre
