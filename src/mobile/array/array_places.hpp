// SPDX-License-Identifier: Apache-2.0
// Places of arrays: an entry at the place's home that stays, with or without an element.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <nacre/keyed_array.hpp>

#include "am/am_engine.hpp"
#include "mobile/object/activation_step.hpp"

namespace nacre {

class object_space;
struct array_part;

/// The protocol of docs/protocols/array.md; array_space knows the arrays, and sends to all elements.
class array_places {
 public:
  array_places(object_space& space, am_engine& messages) noexcept : space_(space), messages_(messages) {}

  /// Makes this rank the home and owner of an array element, before other ranks know the array.
  void adopt_element(thread_context& thread, std::uint64_t number, void* object);
  /// Installs an element of an image at its home, which is this rank.
  void adopt_element(thread_context& thread, object_id id, object_state state);
  /// The messages of insert, which owns the object, and of erase.
  [[nodiscard]] static message_ptr insertion(const detail::object_type& type, void* object);
  [[nodiscard]] static message_ptr erasure();
  void post_insert(thread_context& thread, object_id element, const detail::object_type& type, void* object,
                   detail::future_state& done);
  void post_erase(thread_context& thread, object_id element, detail::future_state& done);
  /// Posts a message for all elements to one place, from the place's home.
  void post_to_place(thread_context& thread, object_entry& entry, message_ptr m);
  /// Runs a message for all elements on an idle place, on this thread, now. False: the element is elsewhere, or its
  /// place is busy, and nothing has happened. `plain`: the handler if it is plain, see array_space.
  [[nodiscard]] bool run_on_idle_place(thread_context& thread, object_entry& entry, message_ptr& m,
                                       const detail::handler_info* plain);
  [[nodiscard]] bool retire_place(thread_context& thread, object_id id, std::span<const detail::sent_count> counts);
  /// Keeps a part until no balancer can look at it as an item any more.
  static void retire_part(thread_context& thread, std::shared_ptr<array_part> part);
  [[nodiscard]] bool is_retired(object_id id) const;
  [[nodiscard]] bool has_retired_block(object_id id) const;
  void forget_block(thread_context& thread, object_id id);
  /// Forgets all places of an array and its layout on this rank. All elements have ended on all ranks.
  void forget_array(thread_context& thread, std::uint64_t first);

  [[nodiscard]] object_entry* place_at_home(object_id id);
  [[nodiscard]] bool begin_place(object_entry& entry);
  [[nodiscard]] static bool is_empty_place(const object_entry& entry) noexcept;
  step_end run_on_place(activation_step& now);
  void pass_over(thread_context& thread, const message& m);
  void end_element(activation_step& now);
  void end_place(activation_step& now);

 private:
  void address_to_place(thread_context& thread, object_entry& entry, message& m);
  [[nodiscard]] bool run_plainly(thread_context& thread, object_entry& entry, message_ptr& m,
                                 const detail::handler_info& handler);
  [[nodiscard]] const char* put_element(object_entry& entry, message& m);
  void insert_here(activation_step& now, message_ptr m);

  object_space& space_;
  am_engine& messages_;
};

}  // namespace nacre
