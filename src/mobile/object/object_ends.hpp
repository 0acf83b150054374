// SPDX-License-Identifier: Apache-2.0
// The end of objects: here, and the news of it from other ranks.
#pragma once

#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/object/activation_step.hpp"

namespace nacre {

class object_space;

/// An object ends in its activation; its home and the ranks that have sent to it hear of it, and forget its entry.
class object_ends {
 public:
  object_ends(object_space& space, am_engine& messages);

  /// Handles a request to end the object, at the front of its messages.
  void end_object(activation_step& now);
  void end_entry(activation_step& now, object_state& state);
  void learn_of_end(activation_step& now, const message& news);
  void learn_of_late_end(context& ctx, object_id id);
  void push_end(object_entry& entry, rank_id source, thread_context& thread);
  void end_at_once(object_entry& entry, rank_id source, thread_context& thread);
  void forget(object_entry& entry, thread_context& thread);

  // A handler that other ranks call.
  void on_gone(context& ctx, std::uint64_t object);

 private:
  [[nodiscard]] static message_ptr news_of(rank_id source, thread_context& thread);

  object_space& space_;
  am_engine& messages_;
};

}  // namespace nacre
