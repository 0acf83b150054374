// SPDX-License-Identifier: Apache-2.0
// Telling other ranks where an object is, and being told.
#include "mobile/location/location_updates.hpp"

#include <memory>
#include <string>
#include <utility>

#include "base/marks.hpp"

namespace nacre {
namespace {

/// The longest time that location news waits to be sent in bulk.
constexpr double news_bound_seconds = 100e-6;

}  // namespace

location_updates::location_updates(am_engine& messages, const nacre::homes& homes, const location_rules& rules,
                                   directory& entries, const array_table& arrays, message_table& table,
                                   send_entries& numbers, entry_review& review, object_activation& activation)
    : messages_(messages),
      homes_(homes),
      rules_(rules),
      entries_(entries),
      arrays_(arrays),
      numbers_(numbers),
      review_(review),
      activation_(activation),
      told_in_bulk_(messages.pool().thread_contexts().size(),
                    static_cast<std::uint64_t>(news_bound_seconds / messages.pool().seconds_a_tick())) {
  messages_.attach_module(*this);
  table.late = part_function<void(activation_step&, rank_id,
                                  std::span<const rank_id>)>::of<&location_updates::update_late_sender>(*this);
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

void location_updates::queue(thread_context& thread, rank_id target, const object_news& news) {
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
  const rank_id home = homes_.home_of(entry.id);
  const object_entry_extra* const extra = entry.extra();
  if (home != messages_.rank() && home != source) {
    if (extra == nullptr || extra->order.empty()) {
      const known_location location = entry.location.read();
      thread.counters().updates_sent.add(1);
      queue(
          thread, home,
          {.object = entry.id.value(), .epoch = location.epoch, .policy = static_cast<std::uint8_t>(location.policy)});
    } else {
      tell_location(thread, home, entry);
    }
  }
  location_change change{.ranks = messages_.size()};
  if (extra != nullptr && extra->listeners != nullptr) change.subscribers = extra->listeners->all();
  for (const rank_id each : rules_[entry.location.read().policy].on_arrival(change)) {
    if (each != messages_.rank() && each != home) tell_location(thread, each, entry);
  }
}

/// Tells each rank at most once for each epoch; the home has been told on arrival.
void location_updates::update_late_sender(activation_step& step, rank_id source, std::span<const rank_id> path) {
  object_entry& entry = step.entry;
  const known_location location = entry.location.read();
  const location_rule& rule = rules_[location.policy];
  if (rule.keeps().subscribers && source != messages_.rank()) {
    std::unique_ptr<subscribers>& listeners = entry.need_extra().listeners;
    if (listeners == nullptr) listeners = std::make_unique<subscribers>();
    listeners->join(source);
  }
  for (const rank_id each : rule.on_late_delivery({source, path})) {
    if (each == messages_.rank() || each == homes_.home_of(entry.id)) continue;
    streams& order = entry.all_streams();
    if (order.told_epoch(each) >= location.epoch) continue;
    order.note_told(each, location.epoch);
    tell_location(step.thread, each, entry);
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
    } else if (object_entry* const entry = entries_.find(object_id::from_value(each.object))) {
      end_at_once(*entry, ctx.source(), thread);
    }
  }
}

/// Delivers the news of an end at once, without the scheduler, unless the activation is taken; the activation decides
/// whether it can be true.
void location_updates::end_at_once(object_entry& entry, rank_id source, thread_context& thread) {
  if (!entry.arrivals.begin_idle()) return activation_.push_notice(entry, thread, news_of_end, source);
  message_list taken;
  taken.push_back(object_activation::notice(news_of_end, source));
  thread.counters().created.add(1);
  activation_.run_step(entry, thread, taken, may_run::no);
}

void location_updates::learn_location(thread_context& thread, rank_id source, const object_news& news) {
  thread.counters().updates_received.add(1);
  if (!location_rules::known(news.policy)) {
    return messages_.fail("rank " + std::to_string(source.value()) +
                          " told of an object with a location policy that is none");
  }
  const object_id id = object_id::from_value(news.object);
  const auto of_object = static_cast<location_policy>(news.policy);
  object_entry* entry = entries_.find(id);
  if (entry == nullptr) {
    const bool elsewhere = !homes_.home_is_here(id) && homes_.knows(id);
    if (!elsewhere || (!rules_[of_object].keeps().everywhere && !numbers_.remote().has_sent_to(id)) ||
        (id.is_element() && arrays_.find(id) == nullptr))
      return;
    entry = &numbers_.entry_elsewhere(id);
  }
  if (entry->location.learn({source, news.epoch, of_object})) {
    told(id, thread);
  } else {
    NACRE_MARK("a location update is older than what is known");
  }
  review_.list(*entry, thread);
}
}  // namespace nacre
