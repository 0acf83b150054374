// SPDX-License-Identifier: Apache-2.0
// Keeps messages at their senders while their object has too many to carry, and sends them on later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/backlog/source_queues.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/location/location_updates.hpp"
#include "mobile/location/next_hop.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/object/send_entries.hpp"

namespace nacre {

/// The protocol of docs/protocols/backlog.md: source_queues at the source, source_windows at the object.
class source_backlog {
 public:
  source_backlog(am_engine& messages, directory& entries, const array_table& arrays, message_table& table,
                 send_entries& numbers, const next_hop& hop, location_updates& updates, delivery_errors& errors);

  /// A hint: whether messages wait at this source.
  [[nodiscard]] bool any() const noexcept { return waiting_.any(); }
  /// Adds a line for each object to which messages of this rank wait here, until the object clears them. While nothing
  /// runs.
  void name_waiting(std::size_t count_max, std::vector<std::string>& words) const;

  // At the source.
  [[nodiscard]] bool keep_at_source(thread_context& thread, object_entry& entry, message_ptr& m, bool begin, bool held);
  void requeue_returned(thread_context& thread, message_ptr m);
  void on_clear_to_send(context& ctx, std::uint64_t object, std::uint32_t limit, std::uint32_t epoch,
                        std::uint8_t policy);

  // Where the object has been.
  [[nodiscard]] bool goes_back(const known_location& location, const message_header& header) const noexcept;
  void return_to_source(thread_context& thread, message_ptr m);

  // Where the object is.
  [[nodiscard]] message_list leave_behind(activation_step& step, object_state& state);

 private:
  void drop_waiting(thread_context& thread, object_id id);
  [[nodiscard]] bool refuse_request(thread_context& thread, const message& request);
  void note_request(activation_step& step, message_ptr request);
  void clear_senders(activation_step& step, bool all);
  void go_on_at_source(thread_context& thread, object_entry& entry, source_queues::outcome& next);
  void request_to_send(thread_context& thread, const object_entry& entry, std::uint32_t end);
  void send_cleared(thread_context& thread, const object_entry& entry, message_ptr m);

  am_engine& messages_;
  directory& entries_;
  const array_table& arrays_;
  send_entries& numbers_;
  const next_hop& hop_;
  location_updates& updates_;
  delivery_errors& errors_;
  source_queues waiting_;
};

}  // namespace nacre
