// SPDX-License-Identifier: Apache-2.0
// The end of objects: here, and the news of it from other ranks.
#include "mobile/object/object_ends.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/marks.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

object_ends::object_ends(object_space& space, am_engine& messages) : space_(space), messages_(messages) {
  messages_.attach_module(*this);
}

/// Handles the report that an object to which this rank has sent is gone.
void object_ends::learn_of_late_end(context& ctx, object_id id) {
  object_entry* const entry = space_.entries().find(id);
  if (entry == nullptr || space_.is_home_of(id)) return;
  if (id.is_element() && space_.arrays().find(id) != nullptr) return;  // its streams continue with the next element
  NACRE_MARK("a rank forgets where an object was that has been destroyed elsewhere");
  push_end(*entry, ctx.source(), detail::thread_of(ctx));
}

void object_ends::on_gone(context& ctx, std::uint64_t object) {
  if (object_entry* const entry = space_.entries().find(object_id::from_value(object))) {
    push_end(*entry, ctx.source(), detail::thread_of(ctx));
  }
}

/// Pushes the news that an object has been destroyed elsewhere, or a place with its array; the entry's activation
/// decides whether that can be true.
void object_ends::push_end(object_entry& entry, rank_id source, thread_context& thread) {
  space_.push(entry, thread, news_of(source, thread));
}

/// Delivers that news at once, without the scheduler, unless the activation is taken. Poll loop.
void object_ends::end_at_once(object_entry& entry, rank_id source, thread_context& thread) {
  if (!entry.arrivals.begin_idle()) return push_end(entry, source, thread);
  message_list taken;
  taken.push_back(news_of(source, thread));
  space_.activation().run_claimed(entry, thread, taken, false);
}

message_ptr object_ends::news_of(rank_id source, thread_context& thread) {
  message_ptr m = make_message(0);
  m->header.kind = news_of_end;
  m->header.source = source.value();
  thread.counters().created.add(1);
  return m;
}

/// Takes an entry out of the directory, unless that has been done; it is deleted once no thread can still hold it.
void object_ends::forget(object_entry& entry, thread_context& thread) {
  if (!space_.entries().remove(entry)) return;
  if (space_.backlog().any()) space_.backlog().drop_waiting(thread, entry.id);
  thread.reader().retire(&entry, [](void* gone) {
    auto& orphan = *static_cast<object_entry*>(gone);
    if (orphan.arrivals.orphan()) orphan.release_reference();
  });
}

/// Handles news that the object has been destroyed: a lie for an object that lives here; the end of a place, for its
/// array has ended.
void object_ends::learn_of_end(activation_step& now, const message& news) {
  const object_id id = now.at.id;
  if (id.is_element() && space_.is_home_of(id) &&
      (space_.arrays().find(id) == nullptr || space_.places().is_retired(id))) {
    space_.places().end_place(now);
    return now.on.counters().done.add(1);
  }
  if (now.at.object() != nullptr) {
    return messages_.fail("rank " + std::to_string(news.header.source) + " told of the end of an object that lives");
  }
  const known_location last = now.at.location.read();
  static_cast<void>(now.at.location.learn({last.rank, ~std::uint32_t{0}, last.policy, false, true}));
  forget(now.at, now.on);
  space_.forwarding().go_on_by_news(now.at.id, now.on);
  now.on.counters().done.add(1);
}

void object_ends::end_object(activation_step& now) {
  if (now.at.id.is_element()) return space_.places().end_element(now);
  object_entry& entry = now.at;
  thread_context& thread = now.on;
  const message_ptr m = now.pending.pop_front();
  object_state state = entry.take_state();
  state.pending.append(now.pending);
  if (state.colocations != nullptr) {
    NACRE_MARK("an object is destroyed that a colocation waits for");
    for (message_ptr& join : state.colocations->dissolve(state.pending)) state.pending.push_back(std::move(join));
  }
  std::vector<rank_id> keepers = state.order.sources();  // their entries stay until they are told
  const rank_id home = space_.homes().home_of(entry.id);
  std::erase(keepers, home);
  keepers.push_back(home);
  for (const rank_id each : keepers) {
    if (each != messages_.rank()) space_.updates().tell_in_bulk(thread, each, {.object = entry.id.value(), .gone = 1});
  }
  end_entry(now, state);
  if (m->header.reply != 0) messages_.post_reply(thread, m->header, make_message(0));
  thread.counters().done.add(1);
}

/// Takes the entry of an ended object out of the directory; reports the messages that wait for the object.
void object_ends::end_entry(activation_step& now, object_state& state) {
  now.at.location.learn({messages_.rank(), state.epoch + 1, state.policy, false, true});
  space_.migration().give_up_extra(now.at, now.on);
  forget(now.at, now.on);
  space_.waits().report_left(now.on, state);
  state.order.take_early(state.pending);
  while (message_ptr left = state.pending.pop_front()) {
    NACRE_MARK("an object is destroyed before messages that wait for it");
    space_.errors().undeliverable(now.on, std::move(left));
  }
}
}  // namespace nacre
