// SPDX-License-Identifier: Apache-2.0
// Sending the messages of one rank to objects, wherever they are.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/array/remote_elements.hpp"
#include "mobile/object/object_entry.hpp"

namespace nacre {

class object_space;

/// Numbers each message in the stream of this rank to its object, and routes it by the object's entry. Messages to
/// elements of arrays elsewhere need no entry: see remote_elements. Any thread.
class object_sender {
 public:
  object_sender(object_space& space, am_engine& messages);

  /// Posts a message of kind object, migrate or destroy to an object: stamps source and sequence, counts it. `result`,
  /// if not null, gets the reply. When it throws, nothing has happened.
  void post(thread_context& thread, object_id object, message_ptr m, detail::future_state* result = nullptr);
  void post_migrate(thread_context& thread, object_id object, rank_id target, detail::future_state& done);
  void post_destroy(thread_context& thread, object_id object);

  [[nodiscard]] object_entry* entry_to_send_by(thread_context& thread, object_id id);
  /// The entry of an object that has another home, made when there is none.
  [[nodiscard]] object_entry& entry_elsewhere(object_id id);
  /// The counter by which this rank numbers its messages to the object of an entry.
  [[nodiscard]] std::atomic<std::uint32_t>& next_sequence(object_entry& entry);
  [[nodiscard]] remote_elements& remote() noexcept { return remote_; }

 private:
  [[nodiscard]] bool is_element_elsewhere(object_id id) const noexcept;
  [[nodiscard]] [[gnu::noinline]] object_entry* new_entry_to_send_by(object_id id);
  [[nodiscard]] remote_elements::place place_elsewhere(object_id id);
  void address(thread_context& thread, object_id object, message& m, detail::future_state* result);
  void post_to_home(thread_context& thread, object_id object, const remote_elements::place& place, message_ptr m,
                    detail::future_state* result);

  object_space& space_;
  am_engine& messages_;
  remote_elements remote_;
};

}  // namespace nacre
