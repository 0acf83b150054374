// SPDX-License-Identifier: Apache-2.0
// Telling other ranks where an object is, and being told.
#include "mobile/location/location_updates.hpp"

#include <memory>
#include <string>
#include <utility>

#include "base/marks.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

/// The longest time that location news waits to be sent in bulk.
constexpr double news_bound_seconds = 100e-6;

}  // namespace

location_updates::location_updates(object_space& space, am_engine& messages)
    : space_(space),
      messages_(messages),
      told_in_bulk_(messages.pool().thread_contexts().size(),
                    static_cast<std::uint64_t>(news_bound_seconds / messages.pool().seconds_a_tick())) {
  messages_.attach_module(*this);
}

void location_updates::flush_to(thread_context& thread, rank_id target) {
  told_in_bulk_.flush_to(target, messages_.pool().instant(), news_by(thread));
}

/// Tells a rank that the object of the entry is here.
void location_updates::tell_location(thread_context& thread, rank_id target, const object_entry& entry) {
  const known_location location = entry.location.read();
  thread.counters().updates_sent.add(1);
  messages_.post_to_module<&location_updates::on_location>(thread, target, entry.id.value(), messages_.rank().value(),
                                                           location.epoch, static_cast<std::uint8_t>(location.policy));
}

/// Collects news, which leaves in bulk: where an object is to which only one rank sends, and that an object has ended.
/// Messages that come to the home meanwhile go through the object's previous place.
void location_updates::tell_in_bulk(thread_context& thread, rank_id target, const object_news& news) {
  const worker_pool& pool = messages_.pool();
  if (pool.idle_workers() != 0) return send_news(thread, target, {news});
  const bool first = told_in_bulk_.tell(thread.id().value(), target, news, pool.instant(), news_by(thread));
  if (first && !messages_.deferred()) messages_.wake_poll_loop();
}

void location_updates::send_news(thread_context& thread, rank_id target, bulk_news::batch all) {
  messages_.post_to_module<&location_updates::on_news>(thread, target, std::move(all));
}

bulk_news::sender location_updates::news_by(thread_context& thread) {
  return [this, &thread](rank_id target, bulk_news::batch all) { send_news(thread, target, std::move(all)); };
}

std::uint64_t location_updates::flush_news(thread_context& thread) {
  const std::uint64_t now = messages_.pool().instant();
  const bool all = messages_.pool().idle_workers() != 0;
  const std::uint64_t next = told_in_bulk_.flush_overdue(now, all, news_by(thread));
  return next == 0 ? 0 : next - now;
}

/// Tells the home, unless the home has sent the object here, and the ranks that the rule names.
void location_updates::tell_of_arrival(object_entry& entry, rank_id source, thread_context& thread) {
  const rank_id home = space_.homes().home_of(entry.id);
  const object_entry_extra* const extra = entry.extra();
  if (home != messages_.rank() && home != source) {
    if (extra == nullptr || extra->order.empty()) {
      const known_location location = entry.location.read();
      thread.counters().updates_sent.add(1);
      tell_in_bulk(
          thread, home,
          {.object = entry.id.value(), .epoch = location.epoch, .policy = static_cast<std::uint8_t>(location.policy)});
    } else {
      tell_location(thread, home, entry);
    }
  }
  location_change change{.ranks = messages_.size()};
  if (extra != nullptr && extra->listeners != nullptr) change.subscribers = extra->listeners->all();
  for (const rank_id each : space_.rules()[entry.location.read().policy].on_arrival(change)) {
    if (each != messages_.rank() && each != home) tell_location(thread, each, entry);
  }
}

/// Tells each rank at most once for each epoch; the home has been told on arrival.
void location_updates::answer_late(activation_step& now, rank_id source, std::span<const rank_id> path) {
  object_entry& entry = now.at;
  const known_location location = entry.location.read();
  const location_rule& rule = space_.rules()[location.policy];
  if (rule.keeps().subscribers && source != messages_.rank()) {
    std::unique_ptr<subscribers>& listeners = entry.need_extra().listeners;
    if (listeners == nullptr) listeners = std::make_unique<subscribers>();
    listeners->join(source);
  }
  for (const rank_id each : rule.on_late_delivery({source, path})) {
    if (each == messages_.rank() || each == space_.homes().home_of(entry.id)) continue;
    streams& order = space_.activation().all_streams(entry);
    if (order.told_epoch(each) >= location.epoch) continue;
    order.note_told(each, location.epoch);
    tell_location(now.on, each, entry);
  }
}

void location_updates::on_location(context& ctx, std::uint64_t object, std::uint32_t rank, std::uint32_t epoch,
                                   std::uint8_t policy) {
  if (rank != ctx.source().value()) {  // only the rank of an object reports its location
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " told where an object is that it has not");
  }
  learn_location(detail::thread_of(ctx), ctx.source(), {.object = object, .epoch = epoch, .policy = policy});
}

void location_updates::on_news(context& ctx, const std::vector<object_news>& all) {
  thread_context& thread = detail::thread_of(ctx);
  for (const object_news& each : all) {
    messages_.pool().charge_own(own_work::item);
    if (each.gone == 0) {
      learn_location(thread, ctx.source(), each);
    } else if (object_entry* const entry = space_.entries().find(object_id::from_value(each.object))) {
      space_.ends().end_at_once(*entry, ctx.source(), thread);
    }
  }
}

void location_updates::learn_location(thread_context& thread, rank_id source, const object_news& news) {
  thread.counters().updates_received.add(1);
  if (!location_rules::known(news.policy)) {
    return messages_.fail("rank " + std::to_string(source.value()) +
                          " told of an object with a location policy that is none");
  }
  const object_id id = object_id::from_value(news.object);
  const auto of_object = static_cast<location_policy>(news.policy);
  object_entry* entry = space_.entries().find(id);
  if (entry == nullptr) {
    const bool elsewhere = !space_.is_home_of(id) && space_.homes().knows(id);
    if (!elsewhere || (!space_.rules()[of_object].keeps().everywhere && !space_.sender().remote().has_sent_to(id)) ||
        (id.is_element() && space_.arrays().find(id) == nullptr))
      return;
    entry = &space_.sender().entry_elsewhere(id);
  }
  if (entry->location.learn({source, news.epoch, of_object})) {
    space_.forwarding().go_on_by_news(id, thread);
  } else {
    NACRE_MARK("a location update is older than what is known");
  }
  space_.forwarding().list_for_review(*entry, thread);
}
}  // namespace nacre
