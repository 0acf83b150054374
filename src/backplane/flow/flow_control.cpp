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

token_link& flow_control::token_at(rank_id link, link_part& part) {
  if (!part.token) {
    part.token = std::make_unique<token_link>(token_link::participant{self_, link, ranks_}, settings_, host_);
  }
  return *part.token;
}

token_keeper& flow_control::keeper_at(link_part& part) {
  if (!part.keeper) part.keeper = std::make_unique<token_keeper>(self_, ranks_, settings_, host_);
  return *part.keeper;
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
    token_at(target, part).offer(bytes, now);
  } else {
    sender_at(target, part, actor).offer(bytes, now);
  }
  set_timer(target, part);
}

void flow_control::receive(rank_id source, const message& m, nanoseconds now) {
  if (m.link.value() >= ranks_ || m.subject.value() >= ranks_ || source.value() >= ranks_) return;
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
    case message_kind::lost:
      if (m.link == self_) on_lost(source, m, now, part);
      break;
    case message_kind::arrived:
      if (m.link == self_ && m.number <= static_cast<std::uint32_t>(flow_policy::slot)) {
        arrived(source, static_cast<flow_policy>(m.number), m.stamp, now);
      }
      break;
    default:
      if (m.kind == message_kind::hint && m.link == self_ && m.subject == source && m.number == 0) {
        keeper_at(part).on_sign(source, m.stamp, now);
      }
      token_at(m.link, part).receive(source, m, now);
  }
  set_timer(m.link, part);
}

void flow_control::on_lost(rank_id source, const message& m, nanoseconds now, link_part& part) {
  token_keeper& keeper = keeper_at(part);
  token_link& link = token_at(self_, part);
  if (link.holds() && link.seen().epoch == keeper.epoch()) {  // nobody has asked for it yet
    return link.receive(source, {.kind = message_kind::request, .link = self_, .subject = source, .stamp = m.stamp},
                        now);
  }
  if (keeper.on_lost(source, m, now)) link.note_epoch(keeper.epoch(), source, now);
}

void flow_control::arrived(rank_id source, flow_policy policy, const token_stamp& stamp, nanoseconds now) {
  if (policy == flow_policy::none || policy == flow_policy::slot) return;
  link_part& part = links_[self_];
  if (policy == flow_policy::token) {
    keeper_at(part).on_sign(source, stamp, now);
  } else {
    schedule_at(part, policy).on_arrival(source, now);
  }
  set_timer(self_, part);
}

void flow_control::tick(nanoseconds now) {
  while (due() <= now) {
    const rank_id link = timers_.begin()->second;
    link_part& part = links_[link];
    if (part.token) part.token->tick(now);
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
  nanoseconds due = part.token ? part.token->due() : never;
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

const token_link* flow_control::token_of(rank_id link) const noexcept {
  const auto match = links_.find(link);
  return match == links_.end() ? nullptr : match->second.token.get();
}

std::uint64_t flow_control::retries() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [link, part] : links_) {
    if (part.token) sum += part.token->retries();
    if (part.credit_sender) sum += part.credit_sender->retries();
    if (part.slot_sender) sum += part.slot_sender->retries();
  }
  return sum;
}

}  // namespace nacre::flow
