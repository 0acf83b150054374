// SPDX-License-Identifier: Apache-2.0
// Changing the directory.
#include "mobile/directory/directory.hpp"

#include <memory>

namespace nacre {

directory::directory(epoch_domain& readers) : readers_(readers), current_(new table(1024)) {}

directory::~directory() {
  for_each([](entry& left) { delete &left; });
  delete current_.load();
}

entry* directory::find(object_id id) const noexcept {
  const table* const current = current_.load(std::memory_order_acquire);  // pairs with the store in grow
  for (std::size_t index = hash(id);; ++index) {
    // acquire: pairs with the release store in insert.
    entry* const found = current->slots[index & current->mask].load(std::memory_order_acquire);
    if (found == nullptr) return nullptr;
    if (found != removed() && found->id == id) return found;
  }
}

entry& directory::find_or_add(object_id id, location_fact first, work::runner activate) {
  if (entry* known = find(id)) return *known;
  auto added = std::make_unique<entry>(id, first, activate);
  const std::scoped_lock lock(writers_);
  if (entry* known = find(id)) return *known;
  table* current = current_.load(std::memory_order_relaxed);  // written under the lock
  if ((used_ + 1) * 2 > current->mask) {
    grow();
    current = current_.load(std::memory_order_relaxed);  // as above
  }
  insert(*current, *added);
  ++used_;
  size_.fetch_add(1, std::memory_order_relaxed);
  return *added.release();
}

void directory::insert(table& into, entry& added) noexcept {
  std::size_t index = hash(added.id);
  while (into.slots[index & into.mask].load(std::memory_order_relaxed) != nullptr) ++index;  // under the lock
  into.slots[index & into.mask].store(&added, std::memory_order_release);  // pairs with the acquire in find
}

void directory::grow() {
  table* const old = current_.load(std::memory_order_relaxed);  // written under the lock
  std::size_t capacity = 1024;
  while (capacity < size_.load(std::memory_order_relaxed) * 4 + 4) capacity *= 2;
  auto larger = std::make_unique<table>(capacity);
  for_each([&](entry& each) { insert(*larger, each); });
  used_ = size_.load(std::memory_order_relaxed);
  current_.store(larger.release(), std::memory_order_release);  // pairs with the acquire in find
  readers_.retire(old, [](void* gone) { delete static_cast<table*>(gone); });
}

bool directory::remove(entry& gone) {
  const std::scoped_lock lock(writers_);
  table* const current = current_.load(std::memory_order_relaxed);  // written under the lock
  for (std::size_t index = hash(gone.id);; ++index) {
    std::atomic<entry*>& slot = current->slots[index & current->mask];
    entry* const found = slot.load(std::memory_order_relaxed);  // written under the lock
    if (found == nullptr) return false;
    if (found != &gone) continue;
    slot.store(removed(), std::memory_order_release);  // pairs with the acquire in find
    size_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
}

}  // namespace nacre
