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
#include "mobile/colocate/participation.hpp"
#include "mobile/object/activation_step.hpp"

namespace nacre {

class object_space;

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
class colocation_space {
 public:
  colocation_space(object_space& space, am_engine& messages);

  /// Brings objects to one rank and runs a function on them: see docs/protocols/colocate.md. Throws usage_error when an
  /// object is named twice, or a pointer names none. Any thread.
  void request(thread_context& thread, std::span<const object_id> objects, message_ptr function,
               detail::future_state* result);

  // The part of an object here. The object's activation.
  step_end join_front(activation_step& now);
  step_end claim_front(activation_step& now);
  [[nodiscard]] static bool acquired(const object_entry& entry) noexcept;
  void arrive_acquired(activation_step& now);
  /// Tells the initiator of a colocation about one of its objects.
  void tell_initiator(thread_context& thread, const colocation_name& name, const colocate_news& news);

  // Handlers that other ranks call.
  void on_news(context& ctx, const colocate_news& news);
  void on_order(context& ctx, std::uint64_t number, object_id object, std::uint32_t target);
  void on_function(context& ctx, colocate_call call);

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};  // the object is released where it is

  struct ready_colocation;
  [[nodiscard]] static colocation_space& of(thread_context& thread) noexcept;

  [[nodiscard]] bool at_once(rank_id target) const noexcept;

  // At the initiator.
  void take_news(thread_context& thread, rank_id source, const colocate_news& news);
  void act(thread_context& thread, const colocate_action& action, const message_header& failed);
  void send_claim(thread_context& thread, const colocate_action& action);
  void send_order(thread_context& thread, const colocate_action& action);
  void send_function(thread_context& thread, std::uint64_t number, rank_id target);
  void report_failure(thread_context& thread, const colocate_action& action, message_header header);

  // Where the objects are.
  void take_order(thread_context& thread, rank_id source, std::uint64_t number, object_id object, std::uint32_t target);
  void take_function(thread_context& thread, rank_id source, colocate_call call);
  static void order_work(work& item, thread_context& thread);
  static void run_colocation(work& item, thread_context& thread);
  void end_participation(activation_step& now, const colocation_name& name);
  void release_acquired(object_entry& entry, thread_context& thread, const colocation_name& name);
  void note_acquired(object_id object, const colocation_name& name);
  [[nodiscard]] bool take_acquired(object_id object, const colocation_name& name);

  /// The function that a colocation of this rank will run.
  struct colocation_function {
    std::vector<object_id> objects;  ///< in the order of its parameters
    message_ptr call;
  };
  object_space& space_;
  am_engine& messages_;
  std::mutex asking_;  // held while a colocation is requested
  std::mutex guard_;   // guards the members below; held for moments, and
                       // no other lock is taken meanwhile
  coordinator asked_;
  std::unordered_map<std::uint64_t, colocation_function> functions_;  // by number; colocations requested here
  std::unordered_map<std::uint64_t, colocation_name> acquired_;       // objects held here for a colocation, by id
};

}  // namespace nacre
