// SPDX-License-Identifier: Apache-2.0
// Colocations: the messages between the initiator's state machine and the objects on all ranks.
#include "mobile/colocate/colocations.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>
#include <nacre/colocate.hpp>

#include "base/marks.hpp"

namespace nacre {

/// An order to an object that is held here.
struct colocations::held_order final : work {
  held_order() : work(&colocations::run_order) {}
  colocations* owner = nullptr;
  object_id object;
  colocation_name name;
  std::uint32_t target = nowhere;
};

colocations::colocations(am_engine& messages, directory& entries, message_table& table, entry_access& access,
                         object_activation& activation, send_entries& numbers, object_sender& sender,
                         departures& departing, delivery_errors& errors)
    : messages_(messages),
      entries_(entries),
      access_(access),
      activation_(activation),
      numbers_(numbers),
      sender_(sender),
      departures_(departing),
      errors_(errors) {
  messages_.attach_module(*this);
  using run = message_table::run_function;
  using lost = message_table::lost_function;
  table.set_run({receiver::object, receiver::element}, message_kind::join, run::of<&colocations::hold_stream>(*this),
                false);
  table.set_run({receiver::object, receiver::element}, message_kind::claim, run::of<&colocations::run_claim>(*this),
                false);
  table.set_lost(message_kind::join, lost::of<&colocations::report_lost_join>(*this));
  table.set_lost(message_kind::claim, lost::of<&colocations::ignore_lost_claim>(*this));
  table.arrived_held = part_function<void(activation_step&)>::of<&colocations::arrive_held>(*this);
}

void colocations::request(thread_context& thread, std::span<const object_id> objects, message_ptr function,
                          detail::future_state* result) {
  static_assert(coordinator::participants_max == detail::colocation_list_max);
  if (objects.empty() || objects.size() > coordinator::participants_max) {
    throw usage_error("colocate with a list of " + std::to_string(objects.size()) +
                      " objects: it brings 1 to 1,024 together");
  }
  std::vector<object_id> sorted(objects.begin(), objects.end());
  std::sort(sorted.begin(), sorted.end(), [](object_id a, object_id b) { return a.value() < b.value(); });
  if (!sorted.front().valid()) throw usage_error("colocate with a mobile_ptr that names no object");
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw usage_error("colocate with one object twice: its function would have two references to it, and both alone");
  }
  check_payload(function->header.payload_bytes, enclosed_bytes_max);
  if (result != nullptr) function->header.reply = messages_.calls().open(*result);
  // Requests one colocation after the other, so that their joins stand in the same order in all streams from this rank:
  // else each of two could be first at one object and wait for ever for the other object.
  const std::scoped_lock one_at_a_time(asking_);
  const std::uint32_t handler = function->header.handler;
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(guard_);
    number = asked_.begin(objects);
    functions_.emplace(number, colocation_function{{objects.begin(), objects.end()}, std::move(function)});
  }
  for (const object_id each : objects) {
    message_ptr join = make_message(0);
    join->header.kind = message_kind::join;
    join->header.handler = handler;
    join->header.reply = number;
    sender_.post(thread, each, std::move(join));
  }
}

/// A rank's news to itself does not pass the poll loop, unless time is simulated: another thread may own that loop.
bool colocations::is_local_call(rank_id target) const noexcept {
  return target == messages_.rank() && !messages_.deferred();
}

void colocations::tell_initiator(thread_context& thread, const colocation_name& name, const colocate_news& news) {
  const rank_id initiator(name.rank);
  colocate_news told = news;
  told.number = name.number;
  if (told.step == colocate_step::gone) {  // the join is done now, so quiescence must wait for this message
    messages_.post_counted_to_module<&colocations::on_news>(thread, initiator, told);
  } else if (is_local_call(initiator)) {
    take_news(thread, initiator, told);
  } else {
    messages_.post_to_module<&colocations::on_news>(thread, initiator, told);
  }
}

void colocations::on_news(context& ctx, const colocate_news& news) {
  if (news.step == colocate_step::gone) errors_.note_remote_end(ctx, news.object);
  take_news(detail::thread_of(ctx), ctx.source(), news);
}

void colocations::take_news(thread_context& thread, rank_id source, const colocate_news& news) {
  std::vector<colocate_action> next;
  message_header failed;  // copied: another thread may take the function away before the failure is reported
  {
    const std::scoped_lock lock(guard_);
    if (!asked_.on(source, news, next)) {
      return messages_.fail("rank " + std::to_string(source.value()) + " told of a colocation what cannot be");
    }
    for (const colocate_action& each : next) {
      if (each.operation == colocate_action::kind::fail) failed = functions_.at(each.number).call->header;
    }
  }
  for (const colocate_action& each : next) act(thread, each, failed);
}

void colocations::act(thread_context& thread, const colocate_action& action, const message_header& failed) {
  switch (action.operation) {
    case colocate_action::kind::acquire:
    case colocate_action::kind::let_go:
      return send_claim(thread, action);
    case colocate_action::kind::release:
    case colocate_action::kind::go:
      return send_order(thread, action);
    case colocate_action::kind::run:
      return send_function(thread, action.number, action.target);
    case colocate_action::kind::fail:
      return report_failure(thread, action, failed);
    case colocate_action::kind::over: {
      const std::scoped_lock lock(guard_);
      functions_.erase(action.number);
    }
  }
}

void colocations::send_claim(thread_context& thread, const colocate_action& action) {
  object_entry* const entry = numbers_.entry_to_send_by(thread, action.object);
  if (entry == nullptr) return;  // destroyed; its join reports that
  const known_location location = entry->location.read();
  message_ptr m = make_message(0);
  m->header.kind = message_kind::claim;
  m->header.handler = static_cast<std::uint32_t>(action.operation);
  m->header.reply = action.number;
  m->header.object = action.object.value();
  m->header.source = messages_.rank().value();
  m->header.epoch = location.epoch;
  m->header.flags = flag_uncounted;  // the join counts until the colocation is over
  if (location.rank == messages_.rank() && !messages_.deferred())
    return activation_.push(*entry, thread, std::move(m), thread.in_item());
  messages_.route(thread, location.rank, std::move(m));
}

void colocations::send_order(thread_context& thread, const colocate_action& action) {
  const std::uint32_t target = action.operation == colocate_action::kind::go ? action.target.value() : nowhere;
  if (is_local_call(action.rank)) return take_order(thread, action.rank, action.number, action.object, target);
  messages_.post_to_module<&colocations::on_order>(thread, action.rank, action.number, action.object, target);
}

void colocations::send_function(thread_context& thread, std::uint64_t number, rank_id target) {
  colocation_function function;
  {
    const std::scoped_lock lock(guard_);
    const auto match = functions_.find(number);
    NACRE_ASSERT(match != functions_.end(), "a colocation has lost its function");
    function = std::move(match->second);
    functions_.erase(match);
  }
  const message& m = *function.call;
  colocate_call call{
      number, m.header.handler, m.header.reply, std::move(function.objects), {m.payload().begin(), m.payload().end()}};
  if (is_local_call(target)) return take_function(thread, target, std::move(call));
  messages_.post_to_module<&colocations::on_function>(thread, target, std::move(call));
}

void colocations::report_failure(thread_context& thread, const colocate_action& action, message_header header) {
  NACRE_MARK("a colocation fails");
  if (header.reply != 0) {
    header.source = messages_.rank().value();
    header.object = action.object.value();
    return messages_.post_failure(thread, header, action.reason);
  }
  errors_.report(thread, {action.object, messages_.handlers().handler(header.handler)->name, action.reason});
}

// The objects on their ranks: held, moved, and given to the function.

step_end colocations::hold_stream(activation_step& step) {
  message_ptr m = step.pending.pop_front();
  const colocation_name name{m->header.source, m->header.reply};
  std::unique_ptr<participation>& colocations = step.entry.need_extra().colocations;
  if (colocations == nullptr) colocations = std::make_unique<participation>();
  colocations->hold(std::move(m));
  tell_initiator(step.thread, name, {.object = step.entry.id, .step = colocate_step::ready});
  return step_end::empty;
}

/// Handles a claim at the front. After the news that the object is acquired, the object belongs to the colocation.
step_end colocations::run_claim(activation_step& step) {
  object_entry& entry = step.entry;
  const message_header header = step.pending.front()->header;
  const colocation_name name{header.source, header.reply};
  const object_entry_extra* const extra = entry.extra();
  if (extra == nullptr || extra->colocations == nullptr || !extra->colocations->holds(name)) {
    static_cast<void>(step.pending.pop_front());
    if (entry.id.is_element()) {
      NACRE_MARK("a colocation claims an element that has ended, and finds the next one there");
      return step_end::empty;
    }
    messages_.fail("rank " + std::to_string(header.source) + " claims an object for a colocation that is none");
    return step_end::empty;
  }
  if (header.handler != static_cast<std::uint32_t>(colocate_action::kind::acquire)) {
    static_cast<void>(step.pending.pop_front());
    end_participation(step, name);
    return step_end::empty;
  }
  if (!entry_access::try_exclusive(step)) {
    NACRE_MARK("a colocation waits for shared handlers");
    return step_end::blocked;
  }
  static_cast<void>(step.pending.pop_front());
  extra->colocations->acquired_by = name;
  std::size_t bytes = 0;
  const bool stays_here = departures_.refusal(entry) != nullptr || !departures_.measure(step, bytes).empty();
  step.put_back();
  note_held(entry.id, name);
  tell_initiator(step.thread, name,
                 {.object = entry.id, .step = colocate_step::acquired, .stays = stays_here, .bytes = bytes});
  return step_end::blocked;
}

bool colocations::report_lost_join(thread_context& thread, const message& join) {
  const message_header& header = join.header;
  tell_initiator(thread, {header.source, header.reply},
                 {.object = object_id::from_value(header.object), .step = colocate_step::gone});
  if (join.counted()) thread.counters().done.add(1);
  return true;
}

/// The join reports that the object is gone.
bool colocations::ignore_lost_claim(thread_context&, const message&) { return true; }

/// Ends the part of an object in a colocation, and unblocks its stream.
void colocations::end_participation(activation_step& step, const colocation_name& name) {
  std::unique_ptr<participation>& colocations = step.entry.extra()->colocations;
  const message_ptr join = colocations->resume(name, step.pending);
  colocations->acquired_by = {};
  if (colocations->idle()) colocations.reset();
  step.thread.counters().done.add(1);
}

/// Ends the part of an object that the colocation holds; the caller still has to end its access.
void colocations::release_held(object_entry& entry, thread_context& thread, const colocation_name& name) {
  activation_step step{entry, thread, {}};
  step.take_up();
  end_participation(step, name);
  step.put_back();
}

void colocations::note_held(object_id object, const colocation_name& name) {
  const std::scoped_lock lock(guard_);
  held_[object.value()] = name;
}

/// False when the object is not held here for that colocation; a peer may lie.
bool colocations::take_held(object_id object, const colocation_name& name) {
  const std::scoped_lock lock(guard_);
  const auto match = held_.find(object.value());
  if (match == held_.end() || !(match->second == name)) return false;
  held_.erase(match);
  return true;
}

/// Handles the arrival of a held object at the rank of the function. From here on it belongs to the colocation again.
void colocations::arrive_held(activation_step& step) {
  NACRE_MARK("an object moves to where a colocation runs");
  const colocation_name name = step.entry.extra()->colocations->acquired_by;
  step.put_back();
  note_held(step.entry.id, name);
  tell_initiator(step.thread, name, {.object = step.entry.id, .step = colocate_step::arrived});
}

void colocations::on_order(context& ctx, std::uint64_t number, object_id object, std::uint32_t target) {
  take_order(detail::thread_of(ctx), ctx.source(), number, object, target);
}

void colocations::take_order(thread_context& thread, rank_id source, std::uint64_t number, object_id object,
                             std::uint32_t target) {
  const colocation_name name{source.value(), number};
  if ((target >= messages_.size() && target != nowhere) || !take_held(object, name)) {
    return messages_.fail("rank " + std::to_string(name.rank) + " gives orders to an object that it does not hold");
  }
  auto work_item = std::make_unique<held_order>();
  work_item->owner = this;
  work_item->object = object;
  work_item->name = name;
  work_item->target = target;
  messages_.pool().make_ready(thread, *work_item.release());
}

/// Sends a held object away, or releases it without the function.
void colocations::run_order(work& item, thread_context& thread) {
  const std::unique_ptr<held_order> order(static_cast<held_order*>(&item));
  colocations& all = *order->owner;
  object_entry* const entry = all.entries_.find(order->object);
  NACRE_ASSERT(entry != nullptr, "an object went away that a colocation holds");
  if (order->target == nowhere) {
    all.release_held(*entry, thread, order->name);
  } else {
    activation_step step{*entry, thread, {}};
    step.take_up();
    all.departures_.depart(step, rank_id(order->target), {});
  }
  all.access_.reschedule(*entry, thread);
}

/// A function with all its objects, which are held here.
struct colocations::ready_colocation final : work {
  ready_colocation() : work(&colocations::run_colocation) {}
  colocations* owner = nullptr;
  message_ptr call;
  colocation_name name;
  std::vector<object_id> objects;
};

void colocations::on_function(context& ctx, colocate_call call) {
  take_function(detail::thread_of(ctx), ctx.source(), std::move(call));
}

void colocations::take_function(thread_context& thread, rank_id source, colocate_call call) {
  auto ready = std::make_unique<ready_colocation>();
  ready->owner = this;
  ready->name = {source.value(), call.number};
  const detail::handler_info* const row = messages_.handlers().handler(call.handler);
  bool sound = row != nullptr && row->colocation != nullptr && row->colocation->takes(call.objects.size());
  for (const object_id each : call.objects) sound = sound && take_held(each, ready->name);
  if (!sound) {
    return messages_.fail("rank " + std::to_string(source.value()) +
                          " runs a function on objects that it does not hold");
  }
  ready->call = make_message(call.arguments.size());
  std::copy(call.arguments.begin(), call.arguments.end(), ready->call->body());
  message_header& header = ready->call->header;
  header.handler = call.handler;
  header.reply = call.reply;
  header.source = ready->name.rank;
  header.object = call.objects.front().value();
  header.flags = flag_uncounted;  // the joins count
  ready->objects = std::move(call.objects);
  messages_.pool().make_ready(thread, *ready.release());
}

void colocations::run_colocation(work& item, thread_context& thread) {
  const std::unique_ptr<ready_colocation> all(static_cast<ready_colocation*>(&item));
  colocations& self = *all->owner;
  const detail::colocation_shape& shape = *self.messages_.handlers().handler(all->call->header.handler)->colocation;
  std::vector<object_entry*> entries(all->objects.size());
  std::vector<void*> objects(all->objects.size());
  for (std::size_t index = 0; index < all->objects.size(); ++index) {
    entries[index] = self.entries_.find(all->objects[index]);
    NACRE_ASSERT(entries[index] != nullptr, "an object went away under a colocation");
    objects[index] = entries[index]->object();
    const detail::object_type& type = *self.messages_.handlers().type(entries[index]->type);
    if (type.key != shape.key_at(index)) {
      return self.messages_.fail("a colocation got an object of another class, " + std::string(type.name));
    }
  }
  std::span<void* const> target(objects);
  self.messages_.run(thread, std::move(all->call), &target);
  for (std::size_t index = 0; index < all->objects.size(); ++index) {
    self.release_held(*entries[index], thread, all->name);
    self.access_.end(*entries[index], thread, entry_access::kind::exclusive);
  }
}
}  // namespace nacre
