// SPDX-License-Identifier: Apache-2.0
// The objects of colocations on their ranks: held, moved, and given to the function.
#include "mobile/colocate/colocation_space.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

colocation_space& colocation_space::of(thread_context& thread) noexcept {
  return object_space::on_thread(thread).colocations();
}

step_end colocation_space::join_front(activation_step& now) {
  message_ptr m = now.pending.pop_front();
  const colocation_name name{m->header.source, m->header.reply};
  std::unique_ptr<participation>& colocations = now.at.need_extra().colocations;
  if (colocations == nullptr) colocations = std::make_unique<participation>();
  colocations->hold(std::move(m));
  tell_initiator(now.on, name, {.object = now.at.id, .step = colocate_step::ready});
  return step_end::empty;
}

/// Handles a claim at the front. After the news that the object is acquired, the object belongs to the colocation.
step_end colocation_space::claim_front(activation_step& now) {
  object_entry& entry = now.at;
  const message_header header = now.pending.front()->header;
  const colocation_name name{header.source, header.reply};
  const object_entry_extra* const extra = entry.extra();
  if (extra == nullptr || extra->colocations == nullptr || !extra->colocations->holds(name)) {
    static_cast<void>(now.pending.pop_front());
    if (entry.id.is_element()) {
      NACRE_MARK("a colocation claims an element that has ended, and finds the next one there");
      return step_end::empty;
    }
    messages_.fail("rank " + std::to_string(header.source) + " claims an object for a colocation that is none");
    return step_end::empty;
  }
  if (header.handler != static_cast<std::uint32_t>(colocate_action::kind::acquire)) {
    static_cast<void>(now.pending.pop_front());
    end_participation(now, name);
    return step_end::empty;
  }
  if (!space_.activation().alone(now)) {
    NACRE_MARK("a colocation waits for shared handlers");
    return step_end::blocked;
  }
  static_cast<void>(now.pending.pop_front());
  extra->colocations->acquired_by = name;
  std::size_t bytes = 0;
  const bool stays_here =
      space_.migration().refusal(entry) != nullptr || !space_.migration().measure(now, bytes).empty();
  now.put_back();
  note_acquired(entry.id, name);
  tell_initiator(now.on, name,
                 {.object = entry.id, .step = colocate_step::acquired, .stays = stays_here, .bytes = bytes});
  return step_end::blocked;
}

bool colocation_space::acquired(const object_entry& entry) noexcept {
  const object_entry_extra* const extra = entry.extra();
  return extra != nullptr && extra->colocations != nullptr && extra->colocations->acquired_by.number != 0;
}

/// Ends the part of an object in a colocation, and unblocks its stream.
void colocation_space::end_participation(activation_step& now, const colocation_name& name) {
  std::unique_ptr<participation>& colocations = now.at.extra()->colocations;
  const message_ptr join = colocations->resume(name, now.pending);
  colocations->acquired_by = {};
  if (colocations->idle()) colocations.reset();
  now.on.counters().done.add(1);
}

/// Ends the part of an object that the colocation holds; the caller still has to end its access.
void colocation_space::release_acquired(object_entry& entry, thread_context& thread, const colocation_name& name) {
  activation_step now{entry, thread, {}};
  now.take_up();
  end_participation(now, name);
  now.put_back();
}

void colocation_space::note_acquired(object_id object, const colocation_name& name) {
  const std::scoped_lock lock(guard_);
  acquired_[object.value()] = name;
}

/// False when the object is not held here for that colocation; a peer may lie.
bool colocation_space::take_acquired(object_id object, const colocation_name& name) {
  const std::scoped_lock lock(guard_);
  const auto match = acquired_.find(object.value());
  if (match == acquired_.end() || !(match->second == name)) return false;
  acquired_.erase(match);
  return true;
}

/// Handles the arrival of a held object at the rank of the function. From here on it belongs to the colocation again.
void colocation_space::arrive_acquired(activation_step& now) {
  NACRE_MARK("an object moves to where a colocation runs");
  const colocation_name name = now.at.extra()->colocations->acquired_by;
  now.put_back();
  note_acquired(now.at.id, name);
  tell_initiator(now.on, name, {.object = now.at.id, .step = colocate_step::arrived});
}

void colocation_space::on_order(context& ctx, std::uint64_t number, object_id object, std::uint32_t target) {
  take_order(detail::thread_of(ctx), ctx.source(), number, object, target);
}

void colocation_space::take_order(thread_context& thread, rank_id source, std::uint64_t number, object_id object,
                                  std::uint32_t target) {
  const colocation_name name{source.value(), number};
  if ((target >= messages_.size() && target != nowhere) || !take_acquired(object, name)) {
    return messages_.fail("rank " + std::to_string(name.rank) + " gives orders to an object that it does not hold");
  }
  message_ptr m = make_message(0);
  m->header.object = object.value();
  m->header.source = name.rank;
  m->header.reply = number;
  m->header.sequence = target;
  m->run_by(&order_work);
  messages_.pool().make_ready(thread, *m.release());
}

/// Sends a held object away, or releases it without the function.
void colocation_space::order_work(work& item, thread_context& thread) {
  colocation_space& self = of(thread);
  const message_header order = static_cast<message&>(item).header;
  object_entry& entry = self.space_.access().held_entry(item);
  if (order.sequence == nowhere) {
    self.release_acquired(entry, thread, {order.source, order.reply});
  } else {
    activation_step now{entry, thread, {}};
    now.take_up();
    self.space_.migration().depart(now, rank_id(order.sequence), {});
  }
  self.space_.activation().let_go_on(entry, thread);
}

/// A function with all its objects, which are held here.
struct colocation_space::ready_colocation final : work {
  ready_colocation() : work(&colocation_space::run_colocation) {}
  message_ptr call;
  colocation_name name;
  std::vector<object_id> objects;
};

void colocation_space::on_function(context& ctx, colocate_call call) {
  take_function(detail::thread_of(ctx), ctx.source(), std::move(call));
}

void colocation_space::take_function(thread_context& thread, rank_id source, colocate_call call) {
  auto ready = std::make_unique<ready_colocation>();
  ready->name = {source.value(), call.number};
  const detail::handler_info* const row = messages_.handlers().handler(call.handler);
  bool sound = row != nullptr && row->colocation != nullptr && row->colocation->keys.size() == call.objects.size();
  for (const object_id each : call.objects) sound = sound && take_acquired(each, ready->name);
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

void colocation_space::run_colocation(work& item, thread_context& thread) {
  colocation_space& self = of(thread);
  const std::unique_ptr<ready_colocation> all(static_cast<ready_colocation*>(&item));
  const detail::colocation_shape& shape = *self.messages_.handlers().handler(all->call->header.handler)->colocation;
  std::array<object_entry*, coordinator::participants_max> entries{};
  std::array<void*, coordinator::participants_max> objects{};
  for (std::size_t index = 0; index < all->objects.size(); ++index) {
    entries[index] = self.space_.entries().find(all->objects[index]);
    NACRE_ASSERT(entries[index] != nullptr, "an object went away under a colocation");
    objects[index] = entries[index]->object();
    const detail::object_type& type = *self.messages_.handlers().type(entries[index]->type);
    if (type.key != shape.keys[index]) {
      return self.messages_.fail("a colocation got an object of another class, " + std::string(type.name));
    }
  }
  self.messages_.run(thread, std::move(all->call), objects.data());
  for (std::size_t index = 0; index < all->objects.size(); ++index) {
    self.release_acquired(*entries[index], thread, all->name);
    self.space_.access().end_access(*entries[index], thread, &handler_access::end_exclusive_work, false);
  }
}
}  // namespace nacre
