// SPDX-License-Identifier: Apache-2.0
// Telling other ranks where an object is, and being told.
#include <algorithm>
#include <string>
#include <utility>

#include "base/marks.hpp"
#include "mobile/mobile.hpp"

namespace nacre {

/// Tells a rank that the object of the entry is here.
void object_space::tell_location(thread_context& on, rank_id to, const object_entry& at) {
  const known_location here = at.location.read();
  on.counters().updates_sent.add(1);
  messages_.post_to_module<&object_space::on_location>(on, to, at.id.value(), messages_.rank().value(), here.epoch,
                                                       static_cast<std::uint8_t>(here.policy));
}

/// Sends news in bulk: of an object that only one rank sends to, or of an object's end. Messages that come to the home
/// meanwhile go through the object's previous place.
void object_space::tell_in_bulk(thread_context& on, rank_id to, const object_news& news) {
  const worker_pool& pool = messages_.pool();
  if (pool.idle_workers() != 0) return send_news(on, to, {news});
  const bool first = told_in_bulk_.tell(on.id().value(), to, news, pool.instant(), news_by(on));
  if (first && !messages_.deferred()) messages_.wake_poll_loop();
}

void object_space::send_news(thread_context& on, rank_id to, bulk_news::batch all) {
  messages_.post_to_module<&object_space::on_news>(on, to, std::move(all));
}

bulk_news::sender object_space::news_by(thread_context& on) {
  return [this, &on](rank_id to, bulk_news::batch all) { send_news(on, to, std::move(all)); };
}

std::uint64_t object_space::flush_news(thread_context& by) {
  const std::uint64_t now = messages_.pool().instant();
  const bool all = messages_.pool().idle_workers() != 0;
  const std::uint64_t next = told_in_bulk_.flush_overdue(now, all, news_by(by));
  return next == 0 ? 0 : next - now;
}

/// Tells the home, unless the home has sent the object here, and the ranks that the rule names.
void object_space::tell_of_arrival(object_entry& at, rank_id from, thread_context& on) {
  const rank_id home = at.id.home();
  const object_entry_extra* const extra = at.extra();
  if (home != messages_.rank() && home != from) {
    if (extra == nullptr || extra->order.empty()) {
      const known_location here = at.location.read();
      on.counters().updates_sent.add(1);
      tell_in_bulk(on, home,
                   {.object = at.id.value(), .epoch = here.epoch, .policy = static_cast<std::uint8_t>(here.policy)});
    } else {
      tell_location(on, home, at);
    }
  }
  location_change change{.ranks = messages_.size()};
  if (extra != nullptr && extra->listeners != nullptr) change.subscribers = extra->listeners->all();
  for (const rank_id each : rules_[at.location.read().policy].on_arrival(change)) {
    if (each != messages_.rank() && each != home) tell_location(on, each, at);
  }
}

/// Tells each rank at most once for each epoch; the home has been told on arrival.
void object_space::answer_late(activation_step& now, rank_id source, std::span<const rank_id> path) {
  object_entry& at = now.at;
  const known_location here = at.location.read();
  const location_rule& rule = rules_[here.policy];
  if (rule.keeps().subscribers && source != messages_.rank()) {
    std::unique_ptr<subscribers>& listeners = at.need_extra().listeners;
    if (listeners == nullptr) listeners = std::make_unique<subscribers>();
    listeners->join(source);
  }
  for (const rank_id each : rule.on_late_delivery({source, path})) {
    if (each == messages_.rank() || each == at.id.home()) continue;
    streams& order = all_streams(at);
    if (order.told_epoch(each) >= here.epoch) continue;
    order.note_told(each, here.epoch);
    tell_location(now.on, each, at);
  }
}

void object_space::on_location(context& ctx, std::uint64_t object, std::uint32_t rank, std::uint32_t epoch,
                               std::uint8_t policy) {
  if (rank != ctx.source().value()) {  // only the rank of an object reports its location
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " told where an object is that it has not");
  }
  learn_location(detail::thread_of(ctx), ctx.source(), {.object = object, .epoch = epoch, .policy = policy});
}

void object_space::on_news(context& ctx, const std::vector<object_news>& all) {
  thread_context& by = detail::thread_of(ctx);
  for (const object_news& each : all) {
    messages_.pool().charge_own(own_work::item);
    if (each.gone == 0) {
      learn_location(by, ctx.source(), each);
    } else if (object_entry* const at = entries_.find(object_id::from_value(each.object))) {
      end_at_once(*at, ctx.source(), by);
    }
  }
}

void object_space::learn_location(thread_context& by, rank_id from, const object_news& news) {
  by.counters().updates_received.add(1);
  if (!location_rules::known(news.policy)) {
    return messages_.fail("rank " + std::to_string(from.value()) +
                          " told of an object with a location policy that is none");
  }
  const object_id id = object_id::from_value(news.object);
  const auto of_object = static_cast<location_policy>(news.policy);
  object_entry* at = entries_.find(id);
  if (at == nullptr) {
    const bool elsewhere = id.home() != messages_.rank() && id.home().value() < messages_.size() && id.index() != 0;
    if (!elsewhere || !rules_[of_object].keeps().everywhere || (id.is_element() && arrays_.find(id) == nullptr)) return;
    at = &entries_.find_or_add(id, {id.home(), 0}, &activate_work);
  }
  if (at->location.learn({from, news.epoch, of_object})) {
    go_on_by_news(id, by);
  } else {
    NACRE_MARK("a location update is older than what is known");
  }
  list_for_review(*at, by);
}

}  // namespace nacre
