// SPDX-License-Identifier: Apache-2.0
// Forwarding messages to the place of an object, and collecting the entries that are kept only for that.
#include "mobile/location/message_forwarding.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/marks.hpp"
#include "mobile/location/path.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

namespace {

void note_late(message_kind kind) {
  if (kind == message_kind::everyone) NACRE_MARK("a message to all elements comes to where one has been");
  if (kind == message_kind::lock) NACRE_MARK("main wants an object that leaves");
  if (kind == message_kind::destroy) NACRE_MARK("a destroy comes to where its object has been");
  if (kind == message_kind::claim) NACRE_MARK("a colocation claims an object that leaves");
}

}  // namespace

message_forwarding::message_forwarding(object_space& space, am_engine& messages, const limits& bounds)
    : space_(space), messages_(messages), hops_max_(bounds.hops_max), forwarding_(bounds.kept_max) {
  messages_.attach_module(*this);
}

/// The rank to which this rank, which does not have the object, sends a message: the rank in the entry, with two
/// exceptions that go to the home. These are a location with `by_home`, and a message that has been forwarded more than
/// hops_max times, because entries may lead in a circle after the end of an object.
rank_id message_forwarding::next_rank(const object_entry& entry, const known_location& location,
                                      message_header& header) const noexcept {
  const bool often = header.hops > hops_max_;
  header.epoch = std::max(header.epoch, location.epoch);
  if (!often && !location.by_home) [[likely]]
    return location.rank;
  return next_rank_by_home(entry, location, often);
}

rank_id message_forwarding::next_rank_by_home(const object_entry& entry, const known_location& location,
                                              bool often) const noexcept {
  const rank_id home = space_.homes().home_of(entry.id);
  if (home == messages_.rank()) return location.rank;
  if (often) NACRE_MARK("a message has been forwarded too often and goes to the home of its object");
  return home;
}

void message_forwarding::forward(object_entry& entry, thread_context& thread, message_ptr m) {
  const known_location location = entry.location.read();
  if (location.gone) return space_.errors().undeliverable(thread, std::move(m));
  note_late(m->header.kind);
  if (space_.backlog().goes_back(location, m->header)) return space_.backlog().send_back(thread, std::move(m));
  if (!messages_.by_pointer()) m = am_engine::packed_to_leave(std::move(m));
  if (space_.is_home_of(entry.id) && messages_awaiting_news::missing(location, m->header)) {
    NACRE_MARK("a message waits at the home of its object for news of it");
    m = news_.wait(entry.id, entry.location, std::move(m));
    if (m != nullptr) space_.accept(thread, std::move(m));
    return;
  }
  if (m->header.hops < 255) ++m->header.hops;
  thread.counters().hops.add(1);
  thread.counters().forwards.add(1);
  messages_.pool().charge_own(own_work::forward);
  const rank_id target = next_rank(entry, location, m->header);
  if (space_.rules()[location.policy].keeps().path) {
    m = add_to_path(std::move(m), messages_.rank(), std::min(hops_max_, path_room_max));
  }
  messages_.route(thread, target, std::move(m));
}

/// Hands on the messages that waited at this home for news of the object.
void message_forwarding::go_on_by_news(object_id id, thread_context& thread) {
  if (!space_.is_home_of(id)) return;
  message_list waiting = news_.take(id);
  while (message_ptr m = waiting.pop_front()) space_.accept(thread, std::move(m));
}

/// Handles a message for an object without an entry on this rank: the home knows that the object has been destroyed;
/// another rank sends the message to the home.
void message_forwarding::refer_to_home(object_id id, thread_context& thread, message_ptr m) {
  const rank_id home = space_.homes().home_of(id);
  if (home == messages_.rank() || !space_.homes().knows(id)) return space_.errors().undeliverable(thread, std::move(m));
  if (m->header.hops < 255) ++m->header.hops;
  thread.counters().hops.add(1);
  thread.counters().forwards.add(1);
  // The object may have ended here without its home knowing: then the message would come back, so the news goes first.
  if (space_.updates().has_news_to_tell()) space_.updates().flush_to(thread, home);
  messages_.route(thread, home, std::move(m));
}

/// Whether this rank does not need the entry: it can be collected as soon as the home knows that the object has left.
bool message_forwarding::only_forwards(const object_entry& entry) const noexcept {
  const known_location location = entry.location.read();
  return location.rank != messages_.rank() && !location.gone && !entry.location.sent() && !space_.is_home_of(entry.id);
}

/// Lists an entry that this rank keeps for an object elsewhere. A thread that takes an entry off the list checks it
/// again, and puts it back if it still only forwards.
void message_forwarding::list_for_review(object_entry& entry, thread_context& thread) {
  if (!only_forwards(entry) || !entry.location.list()) return;
  for (const object_id oldest : forwarding_.add(entry.id)) {
    if (oldest.valid()) review(thread, oldest);
  }
}

void message_forwarding::review(thread_context& thread, object_id id) {
  object_entry* const entry = space_.entries().find(id);
  if (entry == nullptr) return;
  if (only_forwards(*entry)) {
    forwarding_.note_asked(id);
    return messages_.post_to_module<&message_forwarding::on_collect_asked>(thread, space_.homes().home_of(id),
                                                                           id.value(), entry->location.read().epoch);
  }
  entry->location.unlist();
  if (only_forwards(*entry) && entry->location.list()) forwarding_.put_back(id);
}

/// At the home: a rank asks whether it may collect its entry. It may when this home knows of `epoch` or a later one:
/// then the home sends it no message for an older place.
void message_forwarding::on_collect_asked(context& ctx, std::uint64_t object, std::uint32_t epoch) {
  const object_id id = object_id::from_value(object);
  if (!space_.is_home_of(id)) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " asked about an object of another home");
  }
  const object_entry* const entry = space_.entries().find(id);
  const bool known = entry == nullptr || entry->location.read().epoch >= epoch;
  messages_.post_to_module<&message_forwarding::on_collect_answered>(detail::thread_of(ctx), ctx.source(), object,
                                                                     epoch, known);
}

void message_forwarding::on_collect_answered(context& ctx, std::uint64_t object, std::uint32_t epoch, bool known) {
  const object_id id = object_id::from_value(object);
  if (space_.homes().home_of(id) != ctx.source() || !forwarding_.end_asking(id)) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " answered what its home had not been asked about an object");
  }
  object_entry* const entry = space_.entries().find(id);
  if (entry == nullptr) return;
  if (!known) {
    NACRE_MARK("a home does not know yet of a departure when it is asked");
    return forwarding_.put_back(id);
  }
  message_ptr m = make_message(0);
  m->header.kind = may_collect;
  m->header.epoch = epoch;
  thread_context& thread = detail::thread_of(ctx);
  thread.counters().created.add(1);
  space_.push(*entry, thread, std::move(m));
}

/// Collects the entry: the home knows of the epoch that `permission` names. If the object has come back and left again,
/// the home is asked about the newer epoch instead.
void message_forwarding::collect(activation_step& now, const message& permission) {
  object_entry& entry = now.at;
  now.on.counters().done.add(1);
  if (entry.location.collected()) return;
  if (entry.object() == nullptr && only_forwards(entry) && entry.location.collect(permission.header.epoch)) {
    NACRE_MARK("an entry that only forwards is collected");
    return space_.ends().forget(entry, now.on);
  }
  entry.location.unlist();
  if (only_forwards(entry) && entry.location.list()) forwarding_.put_back(entry.id);
}
}  // namespace nacre
