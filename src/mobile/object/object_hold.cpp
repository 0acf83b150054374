// SPDX-License-Identifier: Apache-2.0
// Holding objects, and letting them go on.
#include "mobile/object/object_hold.hpp"

#include <atomic>
#include <cstddef>
#include <utility>

#include "mobile/directory/epoch_guard.hpp"
#include "mobile/object_space.hpp"

namespace nacre {
namespace {

/// Whether something waits for the message to run: a call, a main, a colocation. The end of an array, too, lets main go
/// on; a move and an insertion have no form in an image.
bool is_awaited(const message_header& header) noexcept {
  const bool to_object = header.kind == message_kind::object || header.kind == message_kind::destroy ||
                         (header.kind == message_kind::everyone && header.handler != 0);
  return !to_object || header.reply != 0;
}

}  // namespace

void object_hold::begin() {
  const std::scoped_lock lock(mutex_);
  messages_.held.on_.store(true, std::memory_order_relaxed);  // a hint: keeps looks again, with the lock
}

void object_hold::end(thread_context& by) {
  std::unordered_map<std::uint64_t, lot> all;
  {
    const std::scoped_lock lock(mutex_);
    held_units& units = messages_.held;
    units.on_.store(false, std::memory_order_relaxed);        // as in begin
    units.lying_.store(0, std::memory_order_release);         // pairs with held_units::lying
    units.taken_up_.fetch_add(1, std::memory_order_release);  // pairs with held_units::taken_up
    all.swap(lots_);
  }
  for (held_part* const each : messages_.held.parts_) each->go_on(by);
  const epoch_guard guard(by);
  for (const auto& [id, each] : all) {
    object_entry* const at = each.lies ? space_.entries().find(object_id::from_value(id)) : nullptr;
    if (at == nullptr) continue;
    if (at->arrivals.begin_idle()) {
      space_.activation().let_go_on(*at, by);
      continue;
    }
    // The thread that has the activation may have put the messages down, and be about to give the activation back.
    message_ptr m = make_message(0);
    m->header.kind = end_of_hold;
    by.counters().created.add(1);
    space_.push(*at, by, std::move(m));
  }
}

void object_hold::take_up(const object_entry& at) {
  const std::scoped_lock lock(mutex_);
  held_units& units = messages_.held;
  if (!units.on()) return;
  units.taken_up_.fetch_add(1, std::memory_order_release);  // pairs with held_units::taken_up
  const auto found = lots_.find(at.id.value());
  if (found == lots_.end()) return;
  lot& here = found->second;
  if (!here.lies) {
    here = {};
    return;
  }
  units.lying_.fetch_sub(here.counted, std::memory_order_release);  // pairs with held_units::lying
  here.lies = false;
}

/// Looks at the messages behind those that it has looked at before, so that each is looked at once.
void object_hold::look(lot& at, const message_list& pending) {
  for (const message* m = at.last != nullptr ? at.last->next : pending.front(); m != nullptr; m = m->next) {
    at.last = m;
    ++at.messages;
    if (m->counted()) ++at.counted;
    if (is_awaited(m->header)) at.awaited = at.messages;
  }
}

bool object_hold::keeps(activation_step& now) {
  if (array_places::is_empty_place(now.at)) return false;  // no object that could be saved with them
  const object_entry_extra* const extra = now.at.extra();
  if (extra != nullptr && extra->windows != nullptr) space_.backlog().clear_all_senders(now);
  const std::scoped_lock lock(mutex_);
  if (!messages_.held.on()) return false;
  lot& here = lots_[now.at.id.value()];
  if (here.awaited == 0) look(here, now.pending);
  if (here.awaited != 0) {
    here = {.awaited = here.awaited - 1};
    return false;
  }
  here.lies = true;
  messages_.held.lying_.fetch_add(here.counted, std::memory_order_release);  // pairs with held_units::lying
  return true;
}

}  // namespace nacre
