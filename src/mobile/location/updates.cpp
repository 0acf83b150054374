// SPDX-License-Identifier: Apache-2.0
// Telling other ranks where an object is, and being told.
#include <algorithm>
#include <string>
#include <utility>

#include "base/marks.hpp"
#include "mobile/mobile.hpp"

namespace nacre {

/// Tells a rank that the object of the entry is here.
void object_space::tell_location(lane& on, rank_id whom, const entry& at) {
  const location_fact here = at.fact.read();
  on.tallies().updates_sent.add(1);
  messages_.post_to_module<&object_space::on_location>(on, whom, at.id.value(), messages_.rank().value(), here.epoch,
                                                       static_cast<std::uint8_t>(here.policy));
}

/// A home that has sent the object here knows that.
void object_space::tell_of_arrival(entry& at, rank_id from, lane& on) {
  const rank_id home = at.id.home();
  if (home != messages_.rank() && home != from) tell_location(on, home, at);
  location_change change{.ranks = messages_.size()};
  const entry_extra* const extra = at.extra();
  if (extra != nullptr && extra->listeners != nullptr) change.subscribers = extra->listeners->all();
  for (const rank_id each : rules_[at.fact.read().policy].on_arrival(change)) {
    if (each != messages_.rank() && each != home) tell_location(on, each, at);
  }
}

/// Each rank once for each epoch; the home has been told on arrival.
void object_space::answer_late(turn& now, rank_id source, std::span<const rank_id> path) {
  entry& at = now.at;
  const location_fact here = at.fact.read();
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
  if (rank != ctx.source().value()) {  // only the rank that an object is on tells of it
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " told where an object is that it has not");
  }
  detail::lane_of(ctx).tallies().updates_received.add(1);
  if (!location_rules::known(policy)) {
    return messages_.fail("rank " + std::to_string(rank) + " told of an object with a location policy that is none");
  }
  const object_id id = object_id::from_value(object);
  const auto of_object = static_cast<location_policy>(policy);
  entry* at = entries_.find(id);
  if (at == nullptr) {
    const bool elsewhere = id.home() != messages_.rank() && id.home().value() < messages_.size() && id.index() != 0;
    if (!elsewhere || !rules_[of_object].keeps().everywhere || (id.is_element() && arrays_.find(id) == nullptr)) return;
    at = &entries_.find_or_add(id, {id.home(), 0}, &activate_work);
  }
  if (at->fact.learn({rank_id(rank), epoch, of_object})) {
    go_on_by_news(id, detail::lane_of(ctx));
  } else {
    NACRE_MARK("a location update is older than what is known");
  }
  list_for_review(*at, detail::lane_of(ctx));
}

}  // namespace nacre
