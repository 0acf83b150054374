// SPDX-License-Identifier: Apache-2.0
// Colocations: the messages between the initiator's state machine and the objects on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "am/am_engine.hpp"
#include "mobile/colocate/coordinator.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/entry/participation.hpp"
#include "mobile/life/departures.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/entry_access.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/send_entries.hpp"
#include "mobile/outgoing/object_sender.hpp"

namespace nacre {

/// The function of a colocation, on its way to the rank where the objects are.
struct colocate_call {
  std::uint64_t number = 0;
  std::uint32_t handler = 0;
  std::uint64_t reply = 0;
  std::vector<object_id> objects;
  std::vector<std::byte> arguments;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, handler, reply, objects, arguments);
  }
};

/// The protocol of docs/protocols/colocate.md: `coordinator` at the initiator, `participation` at each object.
class colocations {
 public:
  colocations(am_engine& messages, directory& entries, message_table& table, entry_access& access,
              object_activation& activation, send_entries& numbers, object_sender& sender, departures& departing,
              delivery_errors& errors);

  /// Brings objects to one rank and runs a function on them: see docs/protocols/colocate.md. Throws usage_error when an
  /// object is named twice, or a pointer names none. Any thread.
  void request(thread_context& thread, std::span<const object_id> objects, message_ptr function,
               detail::future_state* result);

  // Handlers that other ranks call.
  void on_news(context& ctx, const colocate_news& news);
  void on_order(context& ctx, std::uint64_t number, object_id object, std::uint32_t target);
  void on_function(context& ctx, colocate_call call);

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};  // the object is released where it is

  struct held_order;
  struct ready_colocation;

  [[nodiscard]] bool is_local_call(rank_id target) const noexcept;

  // At the initiator.
  void take_news(thread_context& thread, rank_id source, const colocate_news& news);
  void act(thread_context& thread, const colocate_action& action, const message_header& failed);
  void send_claim(thread_context& thread, const colocate_action& action);
  void send_order(thread_context& thread, const colocate_action& action);
  void send_function(thread_context& thread, std::uint64_t number, rank_id target);
  void report_failure(thread_context& thread, const colocate_action& action, message_header header);

  // Where the objects are; the first four in their activations.
  step_end hold_stream(activation_step& step);
  step_end run_claim(activation_step& step);
  void arrive_held(activation_step& step);
  [[nodiscard]] bool report_lost_join(thread_context& thread, const message& join);
  [[nodiscard]] bool ignore_lost_claim(thread_context& thread, const message& claim);
  void tell_initiator(thread_context& thread, const colocation_name& name, const colocate_news& news);
  void take_order(thread_context& thread, rank_id source, std::uint64_t number, object_id object, std::uint32_t target);
  void take_function(thread_context& thread, rank_id source, colocate_call call);
  static void run_order(work& item, thread_context& thread);
  static void run_colocation(work& item, thread_context& thread);
  void end_participation(activation_step& step, const colocation_name& name);
  void release_held(object_entry& entry, thread_context& thread, const colocation_name& name);
  void note_held(object_id object, const colocation_name& name);
  [[nodiscard]] bool take_held(object_id object, const colocation_name& name);

  /// The function that a colocation of this rank will run.
  struct colocation_function {
    std::vector<object_id> objects;  ///< in the order of its parameters
    message_ptr call;
  };
  am_engine& messages_;
  directory& entries_;
  entry_access& access_;
  object_activation& activation_;
  send_entries& numbers_;
  object_sender& sender_;
  departures& departures_;
  delivery_errors& errors_;
  std::mutex asking_;  // held while a colocation is requested
  std::mutex guard_;   // guards the members below; held for moments, and
                       // no other lock is taken meanwhile
  coordinator asked_;
  std::unordered_map<std::uint64_t, colocation_function> functions_;  // by number; colocations requested here
  std::unordered_map<std::uint64_t, colocation_name> held_;           // objects held here for a colocation, by id
};

}  // namespace nacre
