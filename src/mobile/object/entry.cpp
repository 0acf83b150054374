// SPDX-License-Identifier: Apache-2.0
// The object part of an entry, and the memory of entries.
#include "mobile/object/entry.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <new>

#include "am/handler_table.hpp"
#include "base/fixed_pool.hpp"

namespace nacre {
namespace {

/// Never destroyed: holders of entries may outlive the static objects of the program.
fixed_pool& process_entries() noexcept {
  alignas(fixed_pool) static std::array<std::byte, sizeof(fixed_pool)> place;
  static fixed_pool* const all = new (place.data()) fixed_pool(sizeof(entry), alignof(entry));
  return *all;
}

}  // namespace

void* entry::operator new(std::size_t) { return process_entries().allocate(); }

void entry::operator delete(void* memory) noexcept { process_entries().release(memory); }

shared_traffic& entry_extra::need_traffic() {
  shared_traffic* known = traffic.load(std::memory_order_acquire);  // pairs with the exchange below
  if (known != nullptr) return *known;
  auto made = std::make_unique<shared_traffic>();
  // release: publishes it.
  if (!traffic.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
    return *known;
  }
  return *made.release();
}

kept_messages& entry_extra::need_kept(work::runner how) {
  kept_messages* known = kept.load(std::memory_order_acquire);  // pairs with the exchange below
  if (known != nullptr) return *known;
  auto* const made = new kept_messages(how);
  // release: publishes it.
  if (kept.compare_exchange_strong(known, made, std::memory_order_acq_rel, std::memory_order_acquire)) return *made;
  made->release_reference();
  return *known;
}

entry::~entry() {
  if (void* const left = object(); left != nullptr) handler_table::get().type(type)->destroy(left);
  delete extra();
}

entry_extra& entry::need_extra() {
  std::uintptr_t known = body_.load(std::memory_order_acquire);  // pairs with the exchange below
  if ((known & is_extra) != 0) return *extra_in(known);
  auto made = std::make_unique<entry_extra>(reinterpret_cast<void*>(known));
  // release: publishes the extra.
  while (!body_.compare_exchange_strong(known, reinterpret_cast<std::uintptr_t>(made.get()) | is_extra,
                                        std::memory_order_acq_rel, std::memory_order_acquire)) {
    if ((known & is_extra) != 0) return *extra_in(known);
    made->object = reinterpret_cast<void*>(known);
  }
  return *made.release();
}

void entry::set_object(void* object) noexcept {
  std::uintptr_t known = body_.load(std::memory_order_acquire);  // pairs with need_extra
  while ((known & is_extra) == 0) {
    // release: publishes the object.
    if (body_.compare_exchange_strong(known, reinterpret_cast<std::uintptr_t>(object), std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
      return;
    }
  }
  extra_in(known)->object = object;
}

resident entry::take_resident() noexcept {
  resident body;
  body.object = object();
  set_object(nullptr);
  body.type = handler_table::get().type(type);
  const location_fact known = fact.read();
  body.epoch = known.epoch;
  body.policy = known.policy;
  body.handler_seconds = handler_seconds.load();
  if (entry_extra* const more = extra(); more != nullptr) {
    body.order = std::move(more->order);
    more->order = {};
    body.together = std::move(more->together);
    body.listeners = std::move(more->listeners);
    body.windows = std::move(more->windows);
    if (shared_traffic* const counted = more->traffic.load(std::memory_order_acquire); counted != nullptr) {
      const std::scoped_lock lock(counted->guard);  // the poll loop may be looking
      body.traffic = counted->sketch;
    }
  }
  if (!order.empty()) body.order.absorb(order);
  return body;
}

void entry::put_resident(resident& body) {
  type = body.type->id.value();
  handler_seconds.store(body.handler_seconds);
  if (!body.order.reduce_to(order)) need_extra().order = std::move(body.order);
  if (body.together != nullptr) need_extra().together = std::move(body.together);
  if (body.listeners != nullptr) need_extra().listeners = std::move(body.listeners);
  if (body.windows != nullptr) need_extra().windows = std::move(body.windows);
  if (!body.traffic.empty()) {
    shared_traffic& counted = need_extra().need_traffic();
    const std::scoped_lock lock(counted.guard);  // the poll loop may be looking
    counted.sketch = body.traffic;
  }
  set_object(std::exchange(body.object, nullptr));
}

entry_extra* entry::drop_extra() noexcept {
  if (extra() == nullptr) return nullptr;
  return extra_in(body_.exchange(0, std::memory_order_acq_rel));  // acquire: pairs with the release in need_extra
}

}  // namespace nacre
