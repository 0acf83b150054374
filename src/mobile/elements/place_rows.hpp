// SPDX-License-Identifier: Apache-2.0
// Places of arrays: an entry at the place's home that stays, with or without an element.
#pragma once

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/elements/contributions.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/life/arrivals.hpp"
#include "mobile/life/departures.hpp"
#include "mobile/life/object_ends.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/object/message_waits.hpp"

namespace nacre {

/// A place does some things otherwise than an object that is no element: the protocol of docs/protocols/array.md. The
/// activation of the place.
class place_rows {
 public:
  place_rows(am_engine& messages, const nacre::homes& homes, const array_table& arrays, message_table& table,
             message_waits& waits, arrivals& arriving, departures& departing, object_ends& ends,
             contributions& contributed, delivery_errors& errors);

  /// The messages of insert, which owns the object, and of erase.
  [[nodiscard]] static message_ptr insertion(const detail::object_type& type, void* object);
  [[nodiscard]] static message_ptr erasure();
  /// Begins a place that send_entries has made, in its first activation. False: it is an entry of another kind.
  [[nodiscard]] bool begin_place(object_entry& entry);

 private:
  step_end insert_element(activation_step& step);
  step_end end_element(activation_step& step);
  step_end refuse_at_empty(activation_step& step);
  step_end pass_over_at_empty(activation_step& step);
  void install_place(activation_step& step, message_ptr arrival);
  void handle_news_of_end(activation_step& step, message_ptr news);
  void pass_over_place(thread_context& thread, const message& m);
  [[nodiscard]] bool pass_over(thread_context& thread, const message& m);
  [[nodiscard]] const char* put_element(object_entry& entry, message& m);
  void end_place(activation_step& step);

  am_engine& messages_;
  const nacre::homes& homes_;
  const array_table& arrays_;
  message_waits& waits_;
  arrivals& arrivals_;
  departures& departures_;
  object_ends& ends_;
  contributions& contributions_;
  delivery_errors& errors_;
};

}  // namespace nacre
