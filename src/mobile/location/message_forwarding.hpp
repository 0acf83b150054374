// SPDX-License-Identifier: Apache-2.0
// Forwarding messages to the place of an object, and collecting the entries that are kept only for that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/location/forwarding_list.hpp"
#include "mobile/location/messages_awaiting_news.hpp"
#include "mobile/object/activation_step.hpp"

namespace nacre {

class object_space;

/// The entry of an object that is elsewhere forwards messages to it. Of the entries that serve only to forward, a rank
/// keeps at most `kept_max`; see docs/protocols/location.md.
class message_forwarding {
 public:
  struct limits {
    std::uint32_t hops_max;  ///< after so many hops a message goes to the home of its object
    std::size_t kept_max;    ///< entries that the rank keeps only to forward by
  };
  message_forwarding(object_space& space, am_engine& messages, const limits& bounds);

  [[nodiscard]] rank_id next_rank(const object_entry& entry, const known_location& location,
                                  message_header& header) const noexcept;
  void forward(object_entry& entry, thread_context& thread, message_ptr m);
  void refer_to_home(object_id id, thread_context& thread, message_ptr m);
  void go_on_by_news(object_id id, thread_context& thread);
  /// Whether messages wait here for a location update of their objects, which is certain to come. Any thread.
  [[nodiscard]] bool awaits_news() { return !news_.empty(); }
  void list_for_review(object_entry& entry, thread_context& thread);
  void collect(activation_step& now, const message& permission);

  // Handlers that other ranks call.
  void on_collect_asked(context& ctx, std::uint64_t object, std::uint32_t epoch);
  void on_collect_answered(context& ctx, std::uint64_t object, std::uint32_t epoch, bool known);

 private:
  [[nodiscard]] [[gnu::noinline]] rank_id next_rank_by_home(const object_entry& entry, const known_location& location,
                                                            bool often) const noexcept;
  [[nodiscard]] bool only_forwards(const object_entry& entry) const noexcept;
  void review(thread_context& thread, object_id id);

  object_space& space_;
  am_engine& messages_;
  std::uint32_t hops_max_;
  forwarding_list forwarding_;
  messages_awaiting_news news_;
};

}  // namespace nacre
