// SPDX-License-Identifier: Apache-2.0
// How objects leave; how they end is in object_ends.
#include "mobile/life/departures.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <nacre/assert.hpp>

#include "base/marks.hpp"

namespace nacre {

departures::departures(am_engine& messages, const nacre::homes& homes, const location_rules& rules,
                       const object_names& names, message_table& table, balancer_view& view, entry_review& review,
                       source_backlog& backlog)
    : messages_(messages),
      homes_(homes),
      rules_(rules),
      names_(names),
      view_(view),
      review_(review),
      backlog_(backlog) {
  table.set_run({receiver::object, receiver::element}, message_kind::migrate,
                message_table::run_function::of<&departures::migrate_front>(*this), true);
  table.leave = part_function<void(activation_step&, rank_id, wish_kind)>::of<&departures::leave_for_balancer>(*this);
}

step_end departures::migrate_front(activation_step& step) {
  const message_ptr m = step.pending.pop_front();
  std::uint32_t rank = ~std::uint32_t{0};
  if (m->header.payload_bytes == sizeof rank) std::memcpy(&rank, m->body(), sizeof rank);
  if (rank >= messages_.size()) {
    messages_.fail("rank " + std::to_string(m->header.source) + " asked an object to move to a rank that is none");
  } else if (rank == messages_.rank().value()) {
    NACRE_MARK("an object is asked to move to where it is");
    if (m->header.reply != 0) messages_.post_reply(step.thread, m->header, make_message(0));
  } else {
    const std::string reason = leave_for(step, rank_id(rank), {m->header.source, m->header.reply});
    if (!reason.empty() && m->header.reply != 0) {
      messages_.post_failure(step.thread, m->header, "the object cannot move: " + reason);
    }
  }
  step.thread.counters().done.add(1);
  return step_end::empty;
}

/// An object that takes part in colocations stays: streams stand still for them, and all that waits there would go back
/// to its sources, to come again.
void departures::leave_for_balancer(activation_step& step, rank_id target, wish_kind wish) {
  if (const object_entry_extra* const extra = step.entry.extra(); extra != nullptr && extra->colocations != nullptr) {
    NACRE_MARK("a balancer wishes an object to leave that takes part in a colocation");
    return;
  }
  static_cast<void>(leave_for(step, target, {}, wish));
}

const char* departures::refusal(const object_entry& entry) const {
  if (entry.location.read().epoch >= last_epoch_of_moves) {
    return "it has moved 2^32 times, or its place in an array has had so many moves and elements, which is as often as "
           "they can be counted: it stays where it is";
  }
  if (!refuses_to_move(*messages_.handlers().type(entry.type), entry.object(), entry.id, names_)) return nullptr;
  NACRE_MARK("an object refuses to move");
  return "its may_migrate() says false";
}

/// Whether an object of so many packed bytes, with the messages that wait for it, is too long for one message.
bool departures::exceeds_message_limit(const activation_step& step, std::size_t bytes) const {
  if (messages_.by_pointer()) return false;
  for (const message* m = step.pending.front(); m != nullptr; m = m->next) bytes += am_engine::size_of(*m);
  const object_entry_extra* const extra = step.entry.extra();
  if (extra != nullptr && extra->kept != nullptr)
    extra->kept->for_each([&](const message& m) { bytes += am_engine::size_of(m); });
  return bytes > enclosed_bytes_max;  // the rest is for its streams and places
}

/// Whether the work that waits for an object of so many packed bytes is worth its migration, with what its class says
/// that this costs. Where ranks share an address space its bytes stay where they are.
bool departures::is_worth_migrating(const activation_step& step, std::size_t bytes) const {
  const object_entry_extra* const extra = step.entry.extra();
  const double declared = extra != nullptr ? extra->declared_cost.load(std::memory_order_relaxed) : 0;
  const bool is_light = messages_.by_pointer() || bytes < migration_costs::large_bytes_min;
  if (is_light && !(declared > 0)) return true;
  if (step.pending.empty() && step.entry.arrivals.count() == 0) {  // it has run since the balancer chose it
    const detail::object_type& type = *messages_.handlers().type(step.entry.type);
    return declared_by(type, step.entry.object(), step.entry.id, names_).load > 0;
  }
  return worth_migration(view_.waiting_seconds(step), declared + (is_light ? 0 : costs_.of(bytes)));
}

std::string departures::measure(const activation_step& step, std::size_t& bytes) const {
  bytes = 0;
  try {
    bytes = packed_size_of(*messages_.handlers().type(step.entry.type), step.entry.object(), step.entry.id, names_);
    if (exceeds_message_limit(step, bytes)) return "packed, with what waits for it, it is longer than 1 GiB";
  } catch (const detail::unpackable_value& thrown) {
    if (!messages_.by_pointer()) return thrown.what();
  }
  return {};
}

std::string departures::leave_for(activation_step& step, rank_id target, const migration_request& asked,
                                  wish_kind wish) {
  if (const char* const cause = refusal(step.entry); cause != nullptr) return cause;
  std::size_t bytes = 0;
  if (std::string reason = measure(step, bytes); !reason.empty()) return reason;
  if (wish == wish_kind::if_worth && !is_worth_migrating(step, bytes)) {
    step.entry.need_extra().note_packed_bytes(bytes);
    return "it is large, and little work waits for it";
  }
  depart(step, target, asked);
  return {};
}

void departures::depart(activation_step& step, rank_id target, const migration_request& asked) {
  object_entry& entry = step.entry;
  NACRE_ASSERT(entry.gate.idle(), "an object left under its handlers");
  object_state state = entry.take_state();
  const std::uint32_t epoch = ++state.epoch;
  const location_policy policy = state.policy;
  const bool by_home = rules_[policy].keeps().by_home && !homes_.home_is_here(entry.id);
  state.pending.append(step.pending);
  message_list left = backlog_.leave_behind(step, state);
  const bool backlog = !left.empty() || state.windows != nullptr;
  const std::uint64_t begin = messages_.pool().instant();
  message_ptr m = make_arrival(entry.id, std::move(state), asked, messages_.by_pointer(), &names_);
  const std::size_t bytes = messages_.by_pointer() ? 0 : m->header.payload_bytes;
  m->header.source = messages_.rank().value();
  m->header.epoch = epoch;
  messages_.pool().charge_own(own_work::move_out);
  messages_.pool().charge_own(own_work::pack_byte, m->header.payload_bytes);
  step.thread.counters().created.add(1);
  step.thread.counters().migrations_out.add(1);
  step.thread.record(trace::event_kind::depart, entry.id.value(), target.value(), epoch);
  // Sends the object first: a thread that reads the new location sends behind it.
  messages_.route(step.thread, target, std::move(m));
  const double spent = static_cast<double>(messages_.pool().instant() - begin) * messages_.pool().seconds_a_tick();
  costs_.learn(bytes, spent);
  entry.location.learn({target, epoch, policy, by_home, false, backlog});
  view_.drop_extra(entry, step.thread);
  review_.list(entry, step.thread);
  while (message_ptr each = left.pop_front()) backlog_.return_to_source(step.thread, std::move(each));
}

}  // namespace nacre
