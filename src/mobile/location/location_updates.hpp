// SPDX-License-Identifier: Apache-2.0
// Telling other ranks where an object is, and being told.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "am/am_engine.hpp"
#include "mobile/location/bulk_news.hpp"
#include "mobile/object/activation_step.hpp"

namespace nacre {

class object_space;

/// The object's location policy says which ranks to tell (policies.hpp); the home is always told.
class location_updates {
 public:
  location_updates(object_space& space, am_engine& messages);

  void tell_of_arrival(object_entry& entry, rank_id source, thread_context& thread);
  void answer_late(activation_step& now, rank_id source, std::span<const rank_id> path);
  void tell_in_bulk(thread_context& thread, rank_id target, const object_news& news);
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
  void tell_location(thread_context& thread, rank_id target, const object_entry& entry);
  void send_news(thread_context& thread, rank_id target, bulk_news::batch all);
  [[nodiscard]] bulk_news::sender news_by(thread_context& thread);
  void learn_location(thread_context& thread, rank_id source, const object_news& news);

  object_space& space_;
  am_engine& messages_;
  bulk_news told_in_bulk_;
};

}  // namespace nacre
