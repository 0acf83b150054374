// SPDX-License-Identifier: Apache-2.0
// Messages of a rank to its own objects that do not reach them at once.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/object/object_entry.hpp"

namespace nacre {

class object_space;

/// Under simulated time they wait for the time that their sender has spent; under backpressure they wait in a queue of
/// their object (backpressure_queue.hpp).
class own_messages {
 public:
  own_messages(object_space& space, am_engine& messages) noexcept : space_(space), messages_(messages) {}

  void accept_when_spent(thread_context& on, message_ptr m);
  bool end_idle(object_entry& at, thread_context& on, message_ptr& m);
  void push_under_backpressure(object_entry& at, thread_context& on, message_ptr m);
  [[nodiscard]] bool push_behind_backpressure(const object_entry& at, message_ptr& m);

 private:
  [[nodiscard]] static own_messages& of(thread_context& on) noexcept;
  static void accept_made(work& item, thread_context& on);
  static void run_backpressure_queue(work& item, thread_context& on);

  object_space& space_;
  am_engine& messages_;
  std::atomic<std::uint32_t> backpressured_{0};  // objects with own messages under backpressure
};

}  // namespace nacre
