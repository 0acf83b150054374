// SPDX-License-Identifier: Apache-2.0
// Holds, bundles and sends messages, slot by slot.
#include "am/aggregator.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "am/bundle.hpp"

namespace nacre {

aggregator::aggregator(thread_context& thread, backplane& link, const settings& settings)
    : thread_(thread), link_(link), settings_(settings) {}

aggregator::slot& aggregator::slot_of(rank_id target, bool needs_no_credit) {
  return slots_.of(slot_key(target, needs_no_credit), [&] { return std::make_unique<slot>(target, needs_no_credit); });
}

std::size_t aggregator::send_now(rank_id target, message_ptr m) {
  m = packed_form(std::move(m));
  const std::size_t payload_bytes = m->header.payload_bytes;
  link_.send(&thread_, target, std::move(m));
  return payload_bytes;
}

std::size_t aggregator::append(rank_id target, message_ptr m) {
  if (m->header.channel != channel::application) return send_now(target, std::move(m));
  slot& slot = slot_of(target, !needs_credit(m->header));
  if (slot.round != thread_.round()) {  // the flush before this round has sent all held messages
    m = packed_form(std::move(m));
    slot.round = thread_.round();
    slot.first_left = true;
    return send_now(target, std::move(m));
  }
  const biased_lock::owner_guard held(busy_);
  const std::size_t payload_bytes = append_locked(slot, std::move(m));
  if (asked_.load(std::memory_order_relaxed)) [[unlikely]] {  // a hint
    flush_locked(thread_);
  }
  return payload_bytes;
}

std::size_t aggregator::append_locked(slot& slot, message_ptr m) {
  const std::size_t payload_bytes = bundle::payload_bytes_of(*m);
  const std::size_t bytes = bundle::part_bytes(payload_bytes);
  if (slot.held != nullptr) {
    const std::size_t used = slot.used != 0 ? slot.used : bundle::part_bytes(slot.held->header.payload_bytes);
    if (used + bytes <= slot.room) {
      if (slot.used == 0) start_bundle(slot);
      add_part(slot, *m, payload_bytes);
      return payload_bytes;
    }
    slot.room = static_cast<std::uint32_t>(std::min<std::size_t>(settings_.bytes_max, std::size_t{slot.room} * 2));
    send(slot, thread_);
  }
  const std::uint64_t now = thread_.pool().instant();
  if (std::exchange(slot.first_left, false)) slot.flushed_at = now;  // the first left without a look at the clock
  if (bytes * 2 > settings_.bytes_max || now - slot.flushed_at > settings_.bound_ticks) {
    slot.flushed_at = now;
    link_.send(&thread_, slot.peer, packed_form(std::move(m)));
    return payload_bytes;
  }
  slot.held = packed_form(std::move(m));
  if (slot.open) return payload_bytes;
  slot.open = true;
  if (open_.empty()) {
    note_waiting(now);
    if (!link_.declared().virtual_time) link_.wake();  // so that the poll loop flushes if this thread does not
  }
  open_.push_back(&slot);
  return payload_bytes;
}

/// Makes a bundle of the one message that is held.
void aggregator::start_bundle(slot& slot) {
  const message_ptr first = std::exchange(slot.held, make_message(slot.room));
  message_header& header = slot.held->header;
  header.kind = message_kind::bundle;
  header.channel = first->header.channel;
  header.flags = flag_uncounted;
  header.source = link_.rank().value();
  header.hops = needs_credit(first->header) ? 0 : 1;
  header.object = bundle::form_of_part(first->header);
  add_part(slot, *first, first->header.payload_bytes);
}

void aggregator::add_part(slot& slot, message& m, std::size_t payload_bytes) {
  bundle::write_part_of(m, payload_bytes, slot.held->body() + slot.used);
  slot.used += static_cast<std::uint32_t>(bundle::part_bytes(payload_bytes));
  if (bundle::form_of_part(m.header) != slot.held->header.object) slot.held->header.object = bundle::mixed;
}

void aggregator::send(slot& slot, thread_context& thread) {
  if (slot.used != 0) {
    slot.held->header.payload_bytes = slot.used;
    slot.used = 0;
  }
  link_.send(&thread, slot.peer, std::move(slot.held));
  slot.flushed_at = thread_.pool().instant();
}

void aggregator::flush(thread_context& thread) {
  if (&thread == &thread_ || link_.declared().virtual_time) {  // one thread acts for all contexts of a simulation
    const biased_lock::owner_guard held(busy_);
    flush_locked(thread);
  } else {
    const std::scoped_lock held(busy_);
    flush_locked(thread);
  }
}

std::uint64_t aggregator::flush_overdue(thread_context& thread) {
  const std::uint64_t held_since = since();
  if (held_since == 0) return 0;
  const std::uint64_t now = thread_.pool().instant(), due = held_since + settings_.bound_ticks;
  if (now < due) return due - now;
  const bool can_ask = &thread != &thread_ && !link_.declared().virtual_time;
  if (can_ask && now < due + settings_.bound_ticks) {
    asked_.store(true, std::memory_order_relaxed);  // a hint
    return due + settings_.bound_ticks - now;
  }
  flush(thread);
  return 0;
}

void aggregator::flush_locked(thread_context& thread) {
  asked_.store(false, std::memory_order_relaxed);  // a hint
  for (slot* const each : open_) {
    each->open = false;
    if (each->held == nullptr) continue;
    if (each->used < each->room / 4) each->room = std::max(room_min, each->room / 2);
    send(*each, thread);
  }
  open_.clear();
  note_none_waits();
}

}  // namespace nacre
