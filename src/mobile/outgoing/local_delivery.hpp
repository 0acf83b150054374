// SPDX-License-Identifier: Apache-2.0
// Messages of a rank to its own objects that do not reach them at once.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/entry/object_entry.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/outgoing/incoming.hpp"
#include "mobile/outgoing/object_bundles.hpp"

namespace nacre {

/// Under simulated time they wait for the time that their sender has spent; under backpressure they wait in a queue of
/// their object (backpressure_queue.hpp); short ones of main share bundles.
class local_delivery {
 public:
  local_delivery(am_engine& messages, object_activation& activation, incoming& arrivals,
                 object_bundles& bundles) noexcept
      : messages_(messages), activation_(activation), incoming_(arrivals), object_bundles_(bundles) {}

  /// From now on short messages of main share bundles. Before anything runs.
  void bundle_by(main_aggregator* main_aggregator) noexcept { bundles_ = main_aggregator; }
  /// Whether a message that this thread sends now may share a bundle: the thread runs main, and no handler.
  [[nodiscard]] bool bundles_those_of(const thread_context& thread) const noexcept {
    return bundles_ != nullptr && thread.role() == thread_role::application && !thread.in_item();
  }
  void append_from_main(object_entry& entry, thread_context& main, message_ptr m, bool may_join);
  void accept_when_spent(thread_context& thread, message_ptr m);
  void push_under_backpressure(object_entry& entry, thread_context& thread, message_ptr m);
  [[nodiscard]] bool push_behind_backpressure(const object_entry& entry, message_ptr& m);

 private:
  static void accept_made(work& item, thread_context& thread);
  static void run_backpressure_queue(work& item, thread_context& thread);

  am_engine& messages_;
  object_activation& activation_;
  incoming& incoming_;
  object_bundles& object_bundles_;
  main_aggregator* bundles_ = nullptr;
  std::atomic<std::uint32_t> backpressured_{0};  // objects with own messages under backpressure
};

}  // namespace nacre
