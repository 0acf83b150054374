// SPDX-License-Identifier: Apache-2.0
// The directory of a rank: from an object's name to its entry.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include <nacre/ids.hpp>

#include "base/epoch.hpp"
#include "mobile/object/entry.hpp"

namespace nacre {

/// A hash table with open addressing. Looking up takes no lock and never waits (PREMA section 4.1.2); adding and removing
/// take one, and publish with a release store. A table that has become too full is replaced; readers may still be in the old
/// one, so it is retired, as removed entries are. A reader must be an online participant of `readers`.
class directory {
 public:
  explicit directory(epoch_domain& readers);
  directory(const directory&) = delete;
  directory& operator=(const directory&) = delete;
  /// Deletes the entries that are left.
  ~directory();

  /// Null when the rank knows nothing of the object.
  [[nodiscard]] entry* find(object_id id) const noexcept;
  /// The entry of that name, made with `first` when there is none.
  [[nodiscard]] entry& find_or_add(object_id id, location_fact first, work::runner activate);
  /// Takes the entry out; the caller retires it. False: it was not there any more.
  [[nodiscard]] bool remove(entry& gone);

  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  /// Calls `visit(entry&)` for entries that are there; one that comes or goes meanwhile may be missed.
  template <class Visit>
  void for_each(Visit visit) const {
    const table* const current = current_.load(std::memory_order_acquire);  // pairs with the store in grow
    for (std::size_t index = 0; index <= current->mask; ++index) {
      entry* const found = current->slots[index].load(std::memory_order_acquire);  // pairs with the store in add
      if (found != nullptr && found != removed()) visit(*found);
    }
  }

 private:
  struct table {
    explicit table(std::size_t capacity) : mask(capacity - 1), slots(capacity) {}
    std::size_t mask;
    std::vector<std::atomic<entry*>> slots;
  };
  static entry* removed() noexcept { return reinterpret_cast<entry*>(std::uintptr_t{1}); }
  static std::size_t hash(object_id id) noexcept {
    return static_cast<std::size_t>((id.value() * 0x9e3779b97f4a7c15U) >> 20);
  }
  static void insert(table& into, entry& added) noexcept;
  void grow();

  epoch_domain& readers_;
  std::mutex writers_;
  std::atomic<table*> current_;
  std::size_t used_ = 0;  // under writers_: slots that are not null
  std::atomic<std::size_t> size_{0};
};

}  // namespace nacre
