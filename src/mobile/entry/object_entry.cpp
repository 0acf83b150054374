// SPDX-License-Identifier: Apache-2.0
// The object part of an entry, and the memory of entries.
#include "mobile/entry/object_entry.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

#include "am/handler_table.hpp"
#include "base/fixed_pool.hpp"

namespace nacre {
namespace {

/// Never destroyed: holders of entries may outlive the static objects of the program.
fixed_pool& process_entries() noexcept {
  alignas(fixed_pool) static std::array<std::byte, sizeof(fixed_pool)> place;
  static fixed_pool* const all = new (place.data()) fixed_pool(sizeof(object_entry), alignof(object_entry));
  return *all;
}

}  // namespace

void* object_entry::operator new(std::size_t) { return process_entries().allocate(); }

void object_entry::operator delete(void* memory) noexcept { process_entries().release(memory); }

shared_traffic& object_entry_extra::need_traffic() {
  shared_traffic* known = traffic.load(std::memory_order_acquire);  // pairs with the exchange below
  if (known != nullptr) return *known;
  auto result = std::make_unique<shared_traffic>();
  // release: publishes it.
  if (!traffic.compare_exchange_strong(known, result.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
    return *known;
  }
  return *result.release();
}

backpressure_queue& object_entry_extra::need_backpressure(work::runner function, void* owner) {
  backpressure_queue* known = backpressure.load(std::memory_order_acquire);  // pairs with the exchange below
  if (known != nullptr) return *known;
  auto* const queue = new backpressure_queue(function, owner);
  // release: publishes it.
  if (backpressure.compare_exchange_strong(known, queue, std::memory_order_acq_rel, std::memory_order_acquire))
    return *queue;
  queue->release_reference();
  return *known;
}

object_entry::~object_entry() {
  if (void* const left = object(); left != nullptr) handler_table::get().type(type)->destroy(left);
  delete extra();
}

object_entry_extra& object_entry::need_extra() {
  std::uintptr_t known = body_.load(std::memory_order_acquire);  // pairs with the exchange below
  if ((known & is_extra) != 0) return *extra_in(known);
  auto result = std::make_unique<object_entry_extra>(reinterpret_cast<void*>(known));
  // release: publishes the extra.
  while (!body_.compare_exchange_strong(known, reinterpret_cast<std::uintptr_t>(result.get()) | is_extra,
                                        std::memory_order_acq_rel, std::memory_order_acquire)) {
    if ((known & is_extra) != 0) return *extra_in(known);
    result->object.store(reinterpret_cast<void*>(known), std::memory_order_relaxed);  // the exchange publishes it
  }
  return *result.release();
}

void object_entry::set_object(void* object) noexcept {
  std::uintptr_t known = body_.load(std::memory_order_acquire);  // pairs with need_extra
  while ((known & is_extra) == 0) {
    // release: publishes the object.
    if (body_.compare_exchange_strong(known, reinterpret_cast<std::uintptr_t>(object), std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
      return;
    }
  }
  extra_in(known)->object.store(object, std::memory_order_release);  // pairs with object()
}

object_state object_entry::take_state() noexcept {
  object_state state;
  state.object = object();
  set_object(nullptr);
  state.type = handler_table::get().type(type);
  const known_location known = location.read();
  state.epoch = known.epoch;
  state.policy = known.policy;
  state.pace = pace.load();
  if (object_entry_extra* const more = extra(); more != nullptr) {
    state.order = std::move(more->order);
    more->order = {};
    state.colocations = std::move(more->colocations);
    state.listeners = std::move(more->listeners);
    state.windows = std::move(more->windows);
    state.kept = std::move(more->kept);
    state.contributed = more->contributed.exchange(0, std::memory_order_relaxed);  // no handler runs
    if (shared_traffic* const counted = more->traffic.load(std::memory_order_acquire); counted != nullptr) {
      const std::scoped_lock lock(counted->guard);  // the poll loop may be looking
      state.traffic = counted->sketch;
    }
  }
  if (!order.empty()) state.order.absorb(order);
  return state;
}

void object_entry::put_state(object_state& state) {
  type = static_cast<std::uint16_t>(state.type->id.value());  // handler_table has seen to that
  pace.store(state.pace);
  if (!state.order.reduce_to(order)) need_extra().order = std::move(state.order);
  if (state.colocations != nullptr) need_extra().colocations = std::move(state.colocations);
  if (state.listeners != nullptr) need_extra().listeners = std::move(state.listeners);
  if (state.windows != nullptr) need_extra().windows = std::move(state.windows);
  if (state.kept != nullptr) need_extra().kept = std::move(state.kept);
  if (state.contributed != 0) need_extra().contributed.store(state.contributed, std::memory_order_relaxed);
  if (!state.traffic.empty()) {
    shared_traffic& counted = need_extra().need_traffic();
    const std::scoped_lock lock(counted.guard);  // the poll loop may be looking
    counted.sketch = state.traffic;
  }
  set_object(std::exchange(state.object, nullptr));
}

streams& object_entry::all_streams() {
  object_entry_extra& more = need_extra();
  if (!order.empty()) more.order.absorb(order);
  return more.order;
}

object_entry_extra* object_entry::drop_extra() noexcept {
  if (extra() == nullptr) return nullptr;
  return extra_in(body_.exchange(0, std::memory_order_acq_rel));  // acquire: pairs with the release in need_extra
}

}  // namespace nacre
