// SPDX-License-Identifier: Apache-2.0
// Filling, closing and running the bundles of main to its own rank.
#include "am/main_aggregator.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "am/am_engine.hpp"
#include "am/bundle.hpp"

namespace nacre {

main_aggregator::main_aggregator(thread_context& main, const settings& settings) : main_(main), settings_(settings) {}

bool main_aggregator::belongs_in_bundle(const message& m) const noexcept {
  const bool is_short = short_[m.header.handler % short_.size()].load(std::memory_order_relaxed);  // a hint
  return is_short && m.packed() && m.header.channel == channel::application;
}

main_aggregator::opened main_aggregator::append(message_ptr m) {
  const bool bundled = belongs_in_bundle(*m);
  const std::size_t bytes = bundle::part_bytes(m->header.payload_bytes);
  to_hand_over handover;
  auto result = opened::no;
  {
    const biased_lock::owner_guard lock(busy_);
    if (bundled && workers_.admits(bytes)) {
      add_part(workers_, *m, m->header.payload_bytes);
      return result;
    }
    const std::uint64_t now = main_.pool().instant();
    if (workers_.open != nullptr) {
      if (bundled) workers_.grow_room(settings_.bytes_max);
      close(now, handover);
    }
    if (bundled && may_start(workers_, bytes, now)) {
      start_bundle(workers_, bundle::uniform, *m, m->header.payload_bytes, now);
      result = opened::yes;
    } else {
      if (settings_.window != nullptr && m->ops == nullptr) settings_.window->acquire(*m);
      entries_.append(std::move(m));
      workers_.closed_at = now;
      ++handover.entries;
    }
  }
  hand_over(main_, handover);
  return result;
}

main_aggregator::joined main_aggregator::append_to_object(message_ptr& m) {
  const std::size_t payload_bytes = bundle::payload_bytes_of(*m), bytes = bundle::part_bytes(payload_bytes);
  to_hand_over handover;
  auto result = joined::no;
  {
    const biased_lock::owner_guard lock(busy_);
    if (objects_.admits(bytes)) {
      add_part(objects_, *m, payload_bytes);
      m.reset();
      return joined::yes;
    }
    const std::uint64_t now = main_.pool().instant();
    if (objects_.open != nullptr) {
      objects_.grow_room(settings_.bytes_max);
      close_objects(now, handover);
    }
    if (may_start(objects_, bytes, now)) {
      start_bundle(objects_, bundle::objects, *m, payload_bytes, now);
      m.reset();
      result = joined::first;
    }
    objects_.closed_at = now;
  }
  hand_over(main_, handover);
  return result;
}

void main_aggregator::start_bundle(filling& in, std::uint64_t form, message& first, std::size_t payload_bytes,
                                   std::uint64_t now) {
  in.open = make_message(std::max<std::size_t>(in.room, bundle::part_bytes(payload_bytes)));
  message_header& header = in.open->header;
  header.kind = message_kind::bundle;
  header.channel = channel::application;
  header.flags = flag_uncounted;
  header.source = first.header.source;
  header.object = form;
  header.epoch = 0;  // where its runner begins
  in.used = 0;
  if (settings_.window != nullptr) settings_.window->acquire_bundle(*in.open);
  add_part(in, first, payload_bytes);
  if (since() == 0) note_waiting(now);
}

void main_aggregator::add_part(filling& in, message& m, std::size_t payload_bytes) {
  bundle::write_part_of(m, payload_bytes, in.open->body() + in.used);
  const std::size_t bytes = bundle::part_bytes(payload_bytes);
  in.used += static_cast<std::uint32_t>(bytes);
  in.open->header.payload_bytes = in.used;  // its cost, should it end while it is open
  if (settings_.window != nullptr) settings_.window->grow(bytes);
}

message_ptr main_aggregator::filling::close(std::uint64_t now) noexcept {
  closed_at = now;
  return std::move(open);
}

void main_aggregator::close(std::uint64_t now, to_hand_over& handover) {
  entries_.append(workers_.close(now));
  ++handover.entries;
  note_what_waits();
}

/// Under the lock, so that bundles come in their order.
void main_aggregator::close_objects(std::uint64_t now, to_hand_over& handover) {
  if (work* const item = settings_.to_objects(objects_.close(now))) handover.item = item;
  note_what_waits();
}

/// Only main opens bundles, so that it need not look under the lock in most cases.
void main_aggregator::close_for_objects() {
  if (since() == 0) return;
  to_hand_over handover;
  {
    const biased_lock::owner_guard lock(busy_);
    if (objects_.open == nullptr) return;
    close_objects(main_.pool().instant(), handover);
  }
  hand_over(main_, handover);
}

void main_aggregator::note_what_waits() {
  if (workers_.open == nullptr && objects_.open == nullptr) note_none_waits();
}

void main_aggregator::flush(thread_context& thread) {
  to_hand_over handover;
  if (&thread == &main_) {
    const biased_lock::owner_guard lock(busy_);
    close_all(handover);
  } else {
    const std::scoped_lock lock(busy_);
    close_all(handover);
  }
  hand_over(thread, handover);
}

void main_aggregator::close_all(to_hand_over& handover) {
  const std::uint64_t now = main_.pool().instant();
  if (workers_.open != nullptr) {
    workers_.shrink_room();
    close(now, handover);
  }
  if (objects_.open != nullptr) {
    objects_.shrink_room();
    close_objects(now, handover);
  }
}

std::uint64_t main_aggregator::flush_overdue(thread_context& thread) {
  const std::uint64_t open_since = since();
  if (open_since == 0) return 0;
  const std::uint64_t now = main_.pool().instant(), due = open_since + settings_.bound_ticks;
  if (now < due) return due - now;
  flush(thread);
  return 0;
}

void main_aggregator::hand_over(thread_context& thread, const to_hand_over& handover) {
  entries_.make_ready(thread, handover.entries);
  if (handover.item != nullptr) main_.pool().make_ready(thread, *handover.item);
}

}  // namespace nacre
