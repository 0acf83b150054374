// SPDX-License-Identifier: Apache-2.0
// Holding objects, and letting them go on.
#include "mobile/object/object_hold.hpp"

#include <atomic>
#include <cstddef>
#include <utility>

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
  units_.is_on_.store(true, std::memory_order_relaxed);  // a hint: keeps looks again, with the lock
}

std::vector<object_id> object_hold::end(thread_context& thread) {
  std::unordered_map<std::uint64_t, lot> all;
  std::vector<object_id> objects;
  {
    const std::scoped_lock lock(mutex_);
    objects.reserve(lots_.size());                             // while nothing has changed: it may throw
    units_.is_on_.store(false, std::memory_order_relaxed);     // as in begin
    units_.lying_.store(0, std::memory_order_release);         // pairs with held_units::lying
    units_.taken_up_.fetch_add(1, std::memory_order_release);  // pairs with held_units::taken_up
    all.swap(lots_);
  }
  for (held_part* const each : units_.parts_) each->go_on(thread);
  for (const auto& [id, each] : all) {
    if (each.lies) objects.push_back(object_id::from_value(id));
  }
  return objects;
}

void object_hold::take_up(const object_entry& entry) {
  const std::scoped_lock lock(mutex_);
  if (!units_.on()) return;
  units_.taken_up_.fetch_add(1, std::memory_order_release);  // pairs with held_units::taken_up
  const auto match = lots_.find(entry.id.value());
  if (match == lots_.end()) return;
  lot& lot = match->second;
  if (!lot.lies) {  // messages may have run that `keeps` was not asked for
    lot = {.awaited = lot.awaited};
    return;
  }
  units_.lying_.fetch_sub(lot.counted, std::memory_order_release);  // pairs with held_units::lying
  lot.lies = false;
}

/// Looks at the messages behind those that it has looked at before, so that each is looked at once.
void object_hold::look(lot& lot, const message_list& pending) {
  for (const message* m = lot.last != nullptr ? lot.last->next : pending.front(); m != nullptr; m = m->next) {
    lot.last = m;
    ++lot.messages;
    if (m->counted()) ++lot.counted;
    if (is_awaited(m->header)) lot.awaited = lot.messages;
  }
}

bool object_hold::keeps(const activation_step& step) {
  const std::scoped_lock lock(mutex_);
  if (!units_.on()) return false;
  lot& lot = lots_[step.entry.id.value()];
  if (lot.awaited == 0) look(lot, step.pending);
  if (lot.awaited != 0) {
    lot = {.awaited = lot.awaited - 1};
    return false;
  }
  lot.lies = true;
  units_.lying_.fetch_add(lot.counted, std::memory_order_release);  // pairs with held_units::lying
  return true;
}

}  // namespace nacre
