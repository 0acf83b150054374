// SPDX-License-Identifier: Apache-2.0
// To which part of the protocol a call or a message goes, and when each wants to be called again.
#include "backplane/flow/flow_control.hpp"

#include <algorithm>
#include <array>

namespace nacre::flow {

choice flow_control::choose(flow_policy asked) const noexcept {
  const bool token = asked == flow_policy::token || asked == flow_policy::automatic;
  if (token && ranks_ > list_max) {
    return {flow_policy::slot, "the line of a token would be too long for so many ranks"};
  }
  if (asked != flow_policy::automatic) return {asked, "asked for"};
  if (ranks_ <= 2) return {flow_policy::none, "no two ranks can send to a third one"};
  return {flow_policy::token, "it needs nothing of the receiver, which may be busy"};
}

flow_control::permit_part& flow_control::permit_at(rank_id link, link_part& part, std::uint8_t permit) {
  if (part.permits.empty()) part.permits.resize(settings_.permits);
  permit_part& one = part.permits[permit];
  if (!one.token) {
    one.token = std::make_unique<token_link>(token_link::participant{self_, link, ranks_, permit}, permit_settings_,
                                             part.sizes, host_);
  }
  if (link == self_ && !one.keeper) {
    one.keeper = std::make_unique<token_keeper>(self_, ranks_, permit, permit_settings_, host_);
    one.room = std::make_unique<token_room>(self_, settings_.permits, permit_settings_, host_);
  }
  return one;
}

/// The token for a new message: the one for which fewest of this rank's messages wait, among these one that it holds.
/// Ranks begin their search at different tokens.
token_link& flow_control::least_awaited(rank_id link, link_part& part) {
  token_link* best = nullptr;
  for (std::uint32_t i = 0; i < settings_.permits; ++i) {
    const auto permit = static_cast<std::uint8_t>((self_.value() + i) % settings_.permits);
    token_link& token = *permit_at(link, part, permit).token;
    const bool is_better = best == nullptr || token.pending() < best->pending() ||
                           (token.pending() == best->pending() && token.holds() && !best->holds());
    if (is_better) best = &token;
  }
  return *best;
}

demand_sender& flow_control::sender_at(rank_id link, link_part& part, flow_policy policy) {
  auto& sender = policy == flow_policy::credit ? part.credit_sender : part.slot_sender;
  if (!sender) sender = std::make_unique<demand_sender>(link, policy, settings_, host_);
  return *sender;
}

receiver_schedule& flow_control::schedule_at(link_part& part, flow_policy policy) {
  auto& schedule = policy == flow_policy::credit ? part.credits : part.slots;
  if (!schedule) schedule = std::make_unique<receiver_schedule>(self_, policy, settings_, host_);
  return *schedule;
}

void flow_control::offer(rank_id target, flow_policy policy, std::uint64_t bytes, nanoseconds now) {
  const flow_policy actor = choose(policy).policy;
  if (target == self_ || actor == flow_policy::none || bytes <= settings_.small_bytes) {
    return host_.transmit(target, flow_policy::none, {});
  }
  link_part& part = links_[target];
  if (actor == flow_policy::token) {
    least_awaited(target, part).offer(bytes, now);
  } else {
    sender_at(target, part, actor).offer(bytes, now);
  }
  set_timer(target, part);
}

void flow_control::receive(rank_id source, const message& m, nanoseconds now) {
  if (m.link.value() >= ranks_ || m.subject.value() >= ranks_ || source.value() >= ranks_) return;
  if (m.stamp.permit >= settings_.permits) return;
  link_part& part = links_[m.link];
  const auto policy =
      m.stamp.pass == static_cast<std::uint64_t>(flow_policy::credit) ? flow_policy::credit : flow_policy::slot;
  switch (m.kind) {
    case message_kind::demand:
      if (m.link == self_) schedule_at(part, policy).on_demand(source, m, now);
      break;
    case message_kind::allowance:
      if (m.link == source && source != self_) sender_at(source, part, policy).on_allowance(m, now);
      break;
    case message_kind::arrived:
      if (m.link == self_ && m.number <= static_cast<std::uint32_t>(flow_policy::slot)) {
        arrived(source, static_cast<flow_policy>(m.number), m.stamp, now);
      }
      break;
    default:
      receive_of_token(source, m, now, part);
  }
  set_timer(m.link, part);
}

void flow_control::receive_of_token(rank_id source, const message& m, nanoseconds now, link_part& part) {
  permit_part& one = permit_at(m.link, part, m.stamp.permit);
  switch (m.kind) {
    case message_kind::lost:
      if (m.link == self_) on_lost(source, m, now, one);
      return;
    case message_kind::wanted:
      if (m.link != self_) return;
      one.keeper->on_sign(source, m.stamp, now);
      return one.room->on_wanted(source, m, now);
    default:
      if (m.kind == message_kind::hint && m.link == self_ && m.subject == source && m.number == 0) {
        one.keeper->on_sign(source, m.stamp, now);
      }
      one.token->receive(source, m, now);
  }
}

void flow_control::on_lost(rank_id source, const message& m, nanoseconds now, permit_part& part) {
  token_link& link = *part.token;
  if (link.holds() && link.seen().epoch == part.keeper->epoch()) {  // nobody has asked for it yet
    return link.receive(source, {.kind = message_kind::request, .link = self_, .subject = source, .stamp = m.stamp},
                        now);
  }
  if (part.keeper->on_lost(source, m, now)) link.note_epoch(part.keeper->epoch(), source, now);
}

void flow_control::arrived(rank_id source, flow_policy policy, const token_stamp& stamp, nanoseconds now) {
  if (policy == flow_policy::none || policy == flow_policy::slot || stamp.permit >= settings_.permits) return;
  link_part& part = links_[self_];
  if (policy == flow_policy::token) {
    const permit_part& one = permit_at(self_, part, stamp.permit);
    one.keeper->on_sign(source, stamp, now);
    one.room->on_arrival(stamp);
  } else {
    schedule_at(part, policy).on_arrival(source, now);
  }
  set_timer(self_, part);
}

void flow_control::tick(nanoseconds now) {
  while (due() <= now) {
    const rank_id link = timers_.begin()->second;
    link_part& part = links_[link];
    for (const permit_part& one : part.permits) {
      if (one.token) one.token->tick(now);
      if (one.room) one.room->tick(now);
    }
    for (demand_sender* const each : {part.credit_sender.get(), part.slot_sender.get()}) {
      if (each != nullptr) each->tick(now);
    }
    for (receiver_schedule* const each : {part.credits.get(), part.slots.get()}) {
      if (each != nullptr) each->tick(now);
    }
    set_timer(link, part);
  }
}

void flow_control::set_timer(rank_id link, link_part& part) {
  nanoseconds due = never;
  for (const permit_part& one : part.permits) {
    if (one.token) due = std::min(due, one.token->due());
    if (one.room) due = std::min(due, one.room->due());
  }
  for (const demand_sender* const each : {part.credit_sender.get(), part.slot_sender.get()}) {
    if (each != nullptr) due = std::min(due, each->due());
  }
  for (const receiver_schedule* const each : {part.credits.get(), part.slots.get()}) {
    if (each != nullptr) due = std::min(due, each->due());
  }
  if (due == part.due) return;
  if (part.due != never) timers_.erase({part.due, link});
  part.due = due;
  if (due != never) timers_.emplace(due, link);
}

const token_link* flow_control::token_of(rank_id link, std::uint32_t permit) const noexcept {
  const auto match = links_.find(link);
  if (match == links_.end() || permit >= match->second.permits.size()) return nullptr;
  return match->second.permits[permit].token.get();
}

std::uint64_t flow_control::retries() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [link, part] : links_) {
    for (const permit_part& one : part.permits) sum += one.token ? one.token->retries() : 0;
    if (part.credit_sender) sum += part.credit_sender->retries();
    if (part.slot_sender) sum += part.slot_sender->retries();
  }
  return sum;
}

}  // namespace nacre::flow
