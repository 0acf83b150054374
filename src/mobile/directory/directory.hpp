// SPDX-License-Identifier: Apache-2.0
// The directory of a rank: from an object's name to its entry.
#pragma once

#include <cstddef>
#include <memory>

#include <nacre/ids.hpp>

#include "base/epoch.hpp"
#include "mobile/directory/name_table.hpp"
#include "mobile/object/object_entry.hpp"

namespace nacre {

/// Looking up is wait-free (PREMA section 4.1.2); adding and removing are lock-free; see name_table. The directory owns
/// its entries. Its users are online participants of `readers`.
class directory {
 public:
  explicit directory(epoch_domain& readers) : entries_(readers) {}
  directory(const directory&) = delete;
  directory& operator=(const directory&) = delete;
  /// Deletes the entries that are left.
  ~directory() {
    entries_.for_each([](object_entry& left) { delete &left; });
  }

  /// Null when the rank knows nothing of the object.
  [[nodiscard]] object_entry* find(object_id id) const noexcept { return entries_.find(id); }
  void prefetch_place(object_id id) const noexcept { entries_.prefetch_place(id); }  ///< see name_table
  void prefetch_entry(object_id id) const noexcept { entries_.prefetch_item(id); }   ///< see name_table
  /// The entry of that name, made with `first` when there is none.
  [[nodiscard]] object_entry& find_or_add(object_id id, known_location first, work::runner activate) {
    if (object_entry* const known = entries_.find(id)) return *known;
    return add(id, first, activate);
  }
  /// The entry of that name, made with `first` when there is none. Skips the look-up: for names that are probably new.
  [[nodiscard]] object_entry& add(object_id id, known_location first, work::runner activate,
                                  inbox::first state = inbox::first::idle) {
    auto result = std::make_unique<object_entry>(id, first, activate, state);
    object_entry& entry = entries_.add(*result);
    if (&entry == result.get()) static_cast<void>(result.release());
    return entry;
  }
  /// Takes the entry out; the caller retires it. False: it had been taken out before.
  [[nodiscard]] bool remove(object_entry& gone) { return entries_.remove(gone); }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

  /// Visits the entries in at most `words` words of the table, from `cursor` on, which moves on and wraps around; an
  /// entry may be missed as in for_each. True: these were all words.
  template <class Visit>
  bool visit_some(std::size_t& cursor, std::size_t words, Visit visit) const {
    return entries_.visit_some(cursor, words, visit);
  }

  /// Calls `visit(object_entry&)` for entries that are there; one that comes, goes or is moved within the directory
  /// meanwhile may be missed.
  template <class Visit>
  void for_each(Visit visit) const {
    entries_.for_each(visit);
  }

 private:
  name_table<object_entry> entries_;
};

}  // namespace nacre
