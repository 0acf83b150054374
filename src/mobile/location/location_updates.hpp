// SPDX-License-Identifier: Apache-2.0
// Telling other ranks where an object is, and being told.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/directory/location_rules.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/entry/part_function.hpp"
#include "mobile/location/bulk_news.hpp"
#include "mobile/location/entry_review.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/send_entries.hpp"

namespace nacre {

/// The object's location policy says which ranks to tell (location_rules.hpp); the home is always told.
class location_updates {
 public:
  location_updates(am_engine& messages, const nacre::homes& homes, const location_rules& rules, directory& entries,
                   const array_table& arrays, message_table& table, send_entries& numbers, entry_review& review,
                   object_activation& activation);

  void tell_of_arrival(object_entry& entry, rank_id source, thread_context& thread);
  /// Sends news of one object to `target`, its home, collected with other news: the new place of an object that only
  /// one rank sends to, or the end of an object. Until the news comes, the home forwards messages to the object's
  /// previous place.
  void queue(thread_context& thread, rank_id target, const object_news& news);
  /// Is called when this rank has learned where an object is, or that it has ended.
  part_function<void(object_id, thread_context&)> told;
  /// Sends the news that waits for one rank.
  void flush_to(thread_context& thread, rank_id target);
  /// Whether location news waits here to be sent to homes in bulk. Any thread.
  [[nodiscard]] bool has_news_to_tell() const noexcept { return !told_in_bulk_.empty(); }
  /// Sends news that has waited long enough, or all news if a worker is idle. Returns the number of ticks until the
  /// next call is needed; 0: no news waits. Poll loop.
  std::uint64_t flush_news(thread_context& thread);

  // Handlers that other ranks call.
  void on_location(context& ctx, std::uint64_t object, std::uint32_t rank, std::uint32_t epoch, std::uint8_t policy);
  void on_news(context& ctx, const std::vector<object_news>& all);

 private:
  void update_late_sender(activation_step& step, rank_id source, std::span<const rank_id> path);
  void tell_location(thread_context& thread, rank_id target, const object_entry& entry);
  void send_news(thread_context& thread, rank_id target, bulk_news::batch all);
  [[nodiscard]] bulk_news::sender news_by(thread_context& thread);
  void end_at_once(object_entry& entry, rank_id source, thread_context& thread);
  void learn_location(thread_context& thread, rank_id source, const object_news& news);

  am_engine& messages_;
  const nacre::homes& homes_;
  const location_rules& rules_;
  directory& entries_;
  const array_table& arrays_;
  send_entries& numbers_;
  entry_review& review_;
  object_activation& activation_;
  bulk_news told_in_bulk_;
};

}  // namespace nacre
