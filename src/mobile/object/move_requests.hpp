// SPDX-License-Identifier: Apache-2.0
// What balancers ask of objects: to leave, ahead of the messages that wait for them.
#pragma once

#include "mobile/array/array_table.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/object_activation.hpp"

namespace nacre {

/// Inside the poll loop.
class move_requests {
 public:
  move_requests(am_engine& messages, directory& entries, const array_table& arrays, balancer_view& view,
                object_activation& activation) noexcept
      : messages_(messages), entries_(entries), arrays_(arrays), view_(view), activation_(activation) {}

  /// Moves an object away ahead of the messages that wait for it, at once if no handler runs on it, else as soon as the
  /// handler has ended. False: it stays.
  bool request(thread_context& thread, object_id object, rank_id target, wish_kind wish);
  /// Whether objects leave by wishes from now on; else an open wish is dropped when its turn comes. Any thread.
  void heed(bool is_on) noexcept { activation_.heed_wishes(is_on); }
  /// Ends an item that balancer_view::look_at has found stale and that no thread will run.
  void end_stale(thread_context& thread, work& item);

 private:
  am_engine& messages_;
  directory& entries_;
  const array_table& arrays_;
  balancer_view& view_;
  object_activation& activation_;
};

}  // namespace nacre
