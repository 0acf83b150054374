// SPDX-License-Identifier: Apache-2.0
// Asking homes whether entries may be collected, and collecting them.
#include "mobile/location/entry_review.hpp"

#include <string>
#include <utility>

#include <nacre/runtime.hpp>

#include "base/marks.hpp"

namespace nacre {

entry_review::entry_review(am_engine& messages, const nacre::homes& homes, directory& entries, message_table& table,
                           object_activation& activation, std::size_t kept_max)
    : messages_(messages), homes_(homes), entries_(entries), activation_(activation), forwarding_(kept_max) {
  messages_.attach_module(*this);
  table.set_admitted({receiver::object, receiver::element}, may_collect, message_table::needs::nothing,
                     message_table::admit_function::of<&entry_review::collect>(*this));
}

/// Whether this rank does not need the entry: it can be collected as soon as the home knows that the object has left.
bool entry_review::only_forwards(const object_entry& entry) const noexcept {
  const known_location location = entry.location.read();
  return location.rank != messages_.rank() && !location.gone && !entry.location.sent() &&
         !homes_.home_is_here(entry.id);
}

void entry_review::list(object_entry& entry, thread_context& thread) {
  if (!only_forwards(entry) || !entry.location.list()) return;
  for (const object_id oldest : forwarding_.add(entry.id)) {
    if (oldest.valid()) review(thread, oldest);
  }
}

void entry_review::review(thread_context& thread, object_id id) {
  object_entry* const entry = entries_.find(id);
  if (entry == nullptr) return;
  if (only_forwards(*entry)) {
    forwarding_.note_asked(id);
    return messages_.post_to_module<&entry_review::on_collect_asked>(thread, homes_.home_of(id), id.value(),
                                                                     entry->location.read().epoch);
  }
  entry->location.unlist();
  if (only_forwards(*entry) && entry->location.list()) forwarding_.put_back(id);
}

/// At the home: a rank asks whether it may collect its entry. It may when this home knows of `epoch` or a later one:
/// then the home sends it no message for an older place.
void entry_review::on_collect_asked(context& ctx, std::uint64_t object, std::uint32_t epoch) {
  const object_id id = object_id::from_value(object);
  if (!homes_.home_is_here(id)) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) + " asked about an object of another home");
  }
  const object_entry* const entry = entries_.find(id);
  const bool known = entry == nullptr || entry->location.read().epoch >= epoch;
  messages_.post_to_module<&entry_review::on_collect_answered>(detail::thread_of(ctx), ctx.source(), object, epoch,
                                                               known);
}

void entry_review::on_collect_answered(context& ctx, std::uint64_t object, std::uint32_t epoch, bool known) {
  const object_id id = object_id::from_value(object);
  if (homes_.home_of(id) != ctx.source() || !forwarding_.end_asking(id)) {
    return messages_.fail("rank " + std::to_string(ctx.source().value()) +
                          " answered what its home had not been asked about an object");
  }
  object_entry* const entry = entries_.find(id);
  if (entry == nullptr) return;
  if (!known) {
    NACRE_MARK("a home does not know yet of a departure when it is asked");
    return forwarding_.put_back(id);
  }
  activation_.push_notice(*entry, detail::thread_of(ctx), may_collect, {}, epoch);
}

/// Collects the entry: the home knows of the epoch that `permission` names. If the object has come back and left again,
/// the home is asked about the newer epoch instead.
void entry_review::collect(activation_step& step, message_ptr permission) {
  object_entry& entry = step.entry;
  step.thread.counters().done.add(1);
  if (entry.location.collected()) return;
  if (entry.object() == nullptr && only_forwards(entry) && entry.location.collect(permission->header.epoch)) {
    NACRE_MARK("an entry that only forwards is collected");
    return entries_.forget(entry, step.thread);
  }
  entry.location.unlist();
  if (only_forwards(entry) && entry.location.list()) forwarding_.put_back(entry.id);
}

}  // namespace nacre
