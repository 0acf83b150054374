// SPDX-License-Identifier: Apache-2.0
// Holds, bundles and sends messages, slot by slot.
#include "am/aggregator.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "am/bundle.hpp"

namespace nacre {

aggregator::aggregator(thread_context& on, backplane& link, const settings& how)
    : thread_(on), link_(link), how_(how) {}

aggregator::slot& aggregator::slot_of(rank_id to, bool needs_no_credit) {
  return slots_.of(slot_key(to, needs_no_credit), [&] { return std::make_unique<slot>(to, needs_no_credit); });
}

std::size_t aggregator::send_now(rank_id to, message_ptr m) {
  m = packed_form(std::move(m));
  const std::size_t payload_bytes = m->header.payload_bytes;
  link_.send(&thread_, to, std::move(m));
  return payload_bytes;
}

std::size_t aggregator::append(rank_id to, message_ptr m) {
  if (m->header.channel != channel::application) return send_now(to, std::move(m));
  slot& into = slot_of(to, !needs_credit(m->header));
  if (into.round != thread_.round()) {  // the flush before this round has sent all held messages
    m = packed_form(std::move(m));
    into.round = thread_.round();
    into.first_left = true;
    return send_now(to, std::move(m));
  }
  const biased_lock::owner_guard held(busy_);
  const std::size_t payload_bytes = append_locked(into, std::move(m));
  if (asked_.load(std::memory_order_relaxed)) [[unlikely]] {  // a hint
    flush_locked(thread_);
  }
  return payload_bytes;
}

std::size_t aggregator::append_locked(slot& into, message_ptr m) {
  const std::size_t payload_bytes = bundle::payload_bytes_of(*m);
  const std::size_t bytes = bundle::part_bytes(payload_bytes);
  if (into.held != nullptr) {
    const std::size_t used = into.used != 0 ? into.used : bundle::part_bytes(into.held->header.payload_bytes);
    if (used + bytes <= into.room) {
      if (into.used == 0) start_bundle(into);
      add_part(into, *m, payload_bytes);
      return payload_bytes;
    }
    into.room = static_cast<std::uint32_t>(std::min<std::size_t>(how_.bytes_max, std::size_t{into.room} * 2));
    send(into, thread_);
  }
  const std::uint64_t now = thread_.pool().instant();
  if (std::exchange(into.first_left, false)) into.flushed_at = now;  // the first left without a look at the clock
  if (bytes * 2 > how_.bytes_max || now - into.flushed_at > how_.bound_ticks) {
    into.flushed_at = now;
    link_.send(&thread_, into.to, packed_form(std::move(m)));
    return payload_bytes;
  }
  into.held = packed_form(std::move(m));
  if (into.open) return payload_bytes;
  into.open = true;
  if (open_.empty()) {
    note_waiting(now);
    if (!link_.declared().virtual_time) link_.wake();  // so that the poll loop flushes if this thread does not
  }
  open_.push_back(&into);
  return payload_bytes;
}

/// Makes a bundle of the one message that is held.
void aggregator::start_bundle(slot& into) {
  const message_ptr first = std::exchange(into.held, make_message(into.room));
  message_header& header = into.held->header;
  header.kind = message_kind::bundle;
  header.channel = first->header.channel;
  header.flags = flag_uncounted;
  header.source = link_.rank().value();
  header.hops = needs_credit(first->header) ? 0 : 1;
  header.object = bundle::form_of_part(first->header);
  add_part(into, *first, first->header.payload_bytes);
}

void aggregator::add_part(slot& into, message& m, std::size_t payload_bytes) {
  bundle::write_part_of(m, payload_bytes, into.held->body() + into.used);
  into.used += static_cast<std::uint32_t>(bundle::part_bytes(payload_bytes));
  if (bundle::form_of_part(m.header) != into.held->header.object) into.held->header.object = bundle::mixed;
}

void aggregator::send(slot& from, thread_context& by) {
  if (from.used != 0) {
    from.held->header.payload_bytes = from.used;
    from.used = 0;
  }
  link_.send(&by, from.to, std::move(from.held));
  from.flushed_at = thread_.pool().instant();
}

void aggregator::flush(thread_context& by) {
  if (&by == &thread_ || link_.declared().virtual_time) {  // one thread acts for all contexts of a simulation
    const biased_lock::owner_guard held(busy_);
    flush_locked(by);
  } else {
    const std::scoped_lock held(busy_);
    flush_locked(by);
  }
}

std::uint64_t aggregator::flush_overdue(thread_context& by) {
  const std::uint64_t held_since = since();
  if (held_since == 0) return 0;
  const std::uint64_t now = thread_.pool().instant(), due = held_since + how_.bound_ticks;
  if (now < due) return due - now;
  const bool can_ask = &by != &thread_ && !link_.declared().virtual_time;
  if (can_ask && now < due + how_.bound_ticks) {
    asked_.store(true, std::memory_order_relaxed);  // a hint
    return due + how_.bound_ticks - now;
  }
  flush(by);
  return 0;
}

void aggregator::flush_locked(thread_context& by) {
  asked_.store(false, std::memory_order_relaxed);  // a hint
  for (slot* const each : open_) {
    each->open = false;
    if (each->held == nullptr) continue;
    if (each->used < each->room / 4) each->room = std::max(room_min, each->room / 2);
    send(*each, by);
  }
  open_.clear();
  note_none_waits();
}

}  // namespace nacre
