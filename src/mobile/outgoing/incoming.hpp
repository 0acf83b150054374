// SPDX-License-Identifier: Apache-2.0
// Messages that arrive for objects, from other ranks and from this one.
#pragma once

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/backlog/source_backlog.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/send_entries.hpp"
#include "mobile/outgoing/message_forwarding.hpp"

namespace nacre {

/// Readers of the directory.
class incoming {
 public:
  incoming(am_engine& messages, const nacre::homes& homes, directory& entries, const array_table& arrays,
           send_entries& numbers, message_forwarding& forwarding, source_backlog& backlog,
           object_activation& activation) noexcept
      : messages_(messages),
        homes_(homes),
        entries_(entries),
        arrays_(arrays),
        numbers_(numbers),
        forwarding_(forwarding),
        backlog_(backlog),
        activation_(activation) {}

  /// Brings a message to the inbox of its object, or on its way. `by_handler`: a handler of this rank has sent it.
  void accept(thread_context& thread, message_ptr m, bool by_handler = false);
  /// The messages from `first` on are to be accepted next.
  void prefetch(const message* first) const noexcept;

 private:
  void accept_object(thread_context& thread, message_ptr arrival);
  [[nodiscard]] bool run_destroy_if_idle(object_entry& entry, thread_context& thread, message_ptr& m);

  am_engine& messages_;
  const nacre::homes& homes_;
  directory& entries_;
  const array_table& arrays_;
  send_entries& numbers_;
  message_forwarding& forwarding_;
  source_backlog& backlog_;
  object_activation& activation_;
};

}  // namespace nacre
