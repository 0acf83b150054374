// SPDX-License-Identifier: Apache-2.0
// Opening and sending the bundles of operations.
#include "am/operation_buffers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include <sched.h>

#include <nacre/assert.hpp>

#include "am/container_module.hpp"
#include "base/spin.hpp"

namespace nacre {
namespace detail {

operation_buffers::~operation_buffers() = default;

void operation_buffers::pause() noexcept {
  cpu_relax();
  sched_yield();  // the holder may have lost the core
}

void operation_buffers::keep_pending(std::uint32_t container, std::unique_ptr<pending_operations> all) {
  const std::scoped_lock held(*this);
  if (pending_.size() <= container) pending_.resize(container + 1);
  pending_[container] = std::move(all);
}

void operation_buffers::list_pending(std::uint32_t container) {
  if (std::find(pending_listed_.begin(), pending_listed_.end(), container) == pending_listed_.end()) {
    pending_listed_.push_back(container);
  }
  pending_last_ = container;
}

}  // namespace detail

/// The unit keeps quiescence away until the pending operations are in bundles.
void operation_aggregator::begin_pending(std::uint32_t) {
  const std::scoped_lock held(*static_cast<detail::operation_buffers*>(this));
  has_pending_ = true;
  thread_.counters().created.add(1);
  if (since() == 0) note_waiting(thread_.pool().instant());
}

std::byte* operation_aggregator::claim_slowly(detail::operation_kind kind, std::uint32_t target, std::size_t bytes,
                                              bool aligned) {
  if (slots_.size() < targets_) {
    open_.reserve(targets_);  // so that a bundle that is counted is always listed, too
    slots_.resize(targets_);
  }
  slot& slot = slots_[target];
  const auto fits = [&](std::size_t source) { return source <= slot.room && bytes <= slot.room - source; };
  const bool same_run = slot.held != nullptr && slot.kind == kind;
  const std::size_t index = aligned ? detail::run_aligned(slot.used) : slot.used;
  if (!same_run || !fits(index)) {
    space_.check_open(kind.container);
    const std::size_t run_at = detail::run_aligned(slot.used);
    if (slot.held == nullptr || !fits(run_at + sizeof(detail::run_header))) {
      if (slot.held != nullptr) {
        slot.next_room = std::min(room_max, slot.next_room * 2);
        send(slot, target);
      }
      open(slot, target, sizeof(detail::run_header) + bytes);
    } else {
      close_run(slot);
      std::memset(slot.body + slot.used, 0, run_at - slot.used);
      slot.run_at = static_cast<std::uint32_t>(run_at);
    }
    slot.kind = kind;
    slot.used = slot.run_at + static_cast<std::uint32_t>(sizeof(detail::run_header));
    ::new (static_cast<void*>(slot.body + slot.run_at)) detail::run_header{kind, 0, 0};
  } else {
    slot.used = static_cast<std::uint32_t>(index);
  }
  return take(slot, bytes);
}

void operation_aggregator::open(slot& slot, std::uint32_t target, std::size_t bytes) {
  slot.next_room = std::max(slot.next_room, room_min);
  const std::size_t room = std::max<std::size_t>(slot.next_room, bytes);
  check_payload(room);
  slot.held = make_message(room);
  slot.body = slot.held->body();
  slot.room = static_cast<std::uint32_t>(room);
  slot.used = slot.run_at = 0;
  acting_thread_->counters().created.add(1);
  if (slot.listed) return;
  slot.listed = true;
  open_.push_back(target);
  if (open_since() != 0) return;
  const std::uint64_t now = std::max<std::uint64_t>(thread_.pool().instant(), 1);  // virtual time begins at 0
  open_since_.store(now, std::memory_order_release);                               // pairs with open_since
  if (since() == 0) note_waiting(now);
  space_.bundle_opened();
}

void operation_aggregator::close_run(slot& slot) noexcept {
  auto* const header = reinterpret_cast<detail::run_header*>(slot.body + slot.run_at);
  header->bytes = slot.used - slot.run_at - static_cast<std::uint32_t>(sizeof(detail::run_header));
}

void operation_aggregator::send(slot& slot, std::uint32_t target) {
  close_run(slot);
  slot.held->header.payload_bytes = slot.used;
  slot.kind = {};
  slot.room = slot.used = 0;
  const detail::operation_target operation_target{target / stripes_, target % stripes_};
  space_.send(*acting_thread_, thread_, operation_target, std::move(slot.held));
}

void operation_aggregator::send_all(thread_context& thread) {
  acting_thread_ = &thread;
  for (const std::uint32_t target : open_) {
    slot& each = slots_[target];
    each.listed = false;
    if (each.held == nullptr) continue;
    if (each.used < each.room / 4) each.next_room = std::max(room_min, each.next_room / 2);
    send(each, target);
  }
  open_.clear();
  acting_thread_ = &thread_;
  open_since_.store(0, std::memory_order_release);  // pairs with open_since
}

/// Packing may throw, for want of memory or by a function of the key. Then what is left stays pending, with its unit,
/// and the next flush goes on with it.
void operation_aggregator::flush(thread_context& thread) {
  NACRE_ASSERT(&thread == &thread_, "pending operations were flushed by another thread than the one that makes them");
  const std::scoped_lock held(*static_cast<detail::operation_buffers*>(this));
  const bool pending = has_pending_;
  if (pending) {
    for (const std::uint32_t container : pending_listed_) {
      if (detail::pending_operations* const all = pending_of(container)) all->flush(*this);
    }
    pending_listed_.clear();
    pending_last_ = ~std::uint32_t{0};
    has_pending_ = false;
  }
  send_all(thread);
  note_none_waits();
  if (pending) thread.counters().done.add(1);
}

void operation_aggregator::flush_bundles(thread_context& thread) {
  const std::scoped_lock held(*static_cast<detail::operation_buffers*>(this));
  send_all(thread);
  if (!has_pending_) note_none_waits();
}

}  // namespace nacre
