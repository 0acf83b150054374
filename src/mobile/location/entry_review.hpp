// SPDX-License-Identifier: Apache-2.0
// Collecting the entries that a rank keeps only to forward by.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/am_engine.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/location/forwarding_list.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/object/object_activation.hpp"

namespace nacre {

/// Of the entries that serve only to forward, a rank keeps at most `kept_max`; see docs/protocols/location.md.
class entry_review {
 public:
  entry_review(am_engine& messages, const nacre::homes& homes, directory& entries, message_table& table,
               object_activation& activation, std::size_t kept_max);

  /// Lists an entry that this rank keeps for an object elsewhere. A thread that takes an entry off the list checks it
  /// again, and puts it back if it still only forwards.
  void list(object_entry& entry, thread_context& thread);

  // Handlers that other ranks call.
  void on_collect_asked(context& ctx, std::uint64_t object, std::uint32_t epoch);
  void on_collect_answered(context& ctx, std::uint64_t object, std::uint32_t epoch, bool known);

 private:
  [[nodiscard]] bool only_forwards(const object_entry& entry) const noexcept;
  void review(thread_context& thread, object_id id);
  void collect(activation_step& step, message_ptr permission);

  am_engine& messages_;
  const nacre::homes& homes_;
  directory& entries_;
  object_activation& activation_;
  forwarding_list forwarding_;
};

}  // namespace nacre
