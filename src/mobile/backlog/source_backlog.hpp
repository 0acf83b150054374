// SPDX-License-Identifier: Apache-2.0
// Keeps messages at their senders while their object has too many to carry, and sends them on later.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/backlog/source_queues.hpp"
#include "mobile/object/activation_step.hpp"

namespace nacre {

class object_space;

/// The protocol of docs/protocols/backlog.md: source_queues at the source, source_windows at the object.
class source_backlog {
 public:
  source_backlog(object_space& space, am_engine& messages);

  /// A hint: whether messages wait at this source.
  [[nodiscard]] bool any() const noexcept { return waiting_.any(); }
  /// Calls visit(object, how many messages wait here for it), in no order, until it says false.
  template <class Visit>
  void for_each(const Visit& visit) const {
    waiting_.for_each(visit);
  }

  // At the source.
  [[nodiscard]] bool keep_at_source(thread_context& thread, object_entry& entry, message_ptr& m, bool begin, bool held);
  void take_back(thread_context& thread, message_ptr m);
  void drop_waiting(thread_context& thread, object_id id);
  void on_clear_to_send(context& ctx, std::uint64_t object, std::uint32_t limit, std::uint32_t epoch,
                        std::uint8_t policy);

  // Where the object has been.
  [[nodiscard]] bool goes_back(const known_location& location, const message_header& header) const noexcept;
  void send_back(thread_context& thread, message_ptr m);
  void refuse_request(thread_context& thread, const message_header& header);

  // Where the object is.
  void take_request(activation_step& now, const message_header& header);
  void clear_senders(activation_step& now);
  void clear_all_senders(activation_step& now);
  [[nodiscard]] message_list leave_behind(activation_step& now, object_state& state);

 private:
  void clear_senders(activation_step& now, std::size_t waiting, const participation* colocations);
  void go_on_at_source(thread_context& thread, object_entry& entry, source_queues::outcome& next);
  void request_to_send(thread_context& thread, const object_entry& entry, std::uint32_t end);
  void send_cleared(thread_context& thread, const object_entry& entry, message_ptr m);

  object_space& space_;
  am_engine& messages_;
  source_queues waiting_;
};

}  // namespace nacre
