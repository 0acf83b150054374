// SPDX-License-Identifier: Apache-2.0
// The directory of a rank: from an object's name to its entry.
#pragma once

#include <cstddef>
#include <memory>

#include <nacre/ids.hpp>

#include "base/epoch.hpp"
#include "exec/thread_context.hpp"
#include "mobile/directory/name_table.hpp"
#include "mobile/entry/object_entry.hpp"
#include "mobile/entry/part_function.hpp"

namespace nacre {

/// Looking up is wait-free (PREMA section 4.1.2); adding and removing are lock-free; see name_table. The directory owns
/// its entries. Its users are online participants of `readers`.
///
/// Invariant: an entry with an object is never taken out, and `forgotten` is told of each entry once.
class directory {
 public:
  /// `activator`: the runner of the entries.
  directory(epoch_domain& readers, work::runner activator) : activator_(activator), entries_(readers) {}
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
  [[nodiscard]] object_entry& find_or_add(object_id id, known_location first) {
    if (object_entry* const known = entries_.find(id)) return *known;
    return add(id, first);
  }
  /// The entry of that name, made with `first` when there is none. Skips the look-up: for names that are probably new.
  [[nodiscard]] object_entry& add(object_id id, known_location first, inbox::first state = inbox::first::idle) {
    auto result = std::make_unique<object_entry>(id, first, activator_, state);
    object_entry& entry = entries_.add(*result);
    if (&entry == result.get()) static_cast<void>(result.release());
    return entry;
  }
  /// Takes the entry out; the caller retires it. False: it had been taken out before.
  [[nodiscard]] bool remove(object_entry& gone) { return entries_.remove(gone); }
  /// Takes the entry out, unless that has been done; it is deleted once no thread can still hold it.
  void forget(object_entry& entry, thread_context& thread) {
    if (!remove(entry)) return;
    if (forgotten) forgotten(thread, entry.id);
    thread.reader().retire(&entry, [](void* gone) {
      auto& orphan = *static_cast<object_entry*>(gone);
      if (orphan.arrivals.orphan()) orphan.release_reference();
    });
  }
  part_function<void(thread_context&, object_id)> forgotten;  ///< is told of each entry that is taken out
  /// Releases the reference of an item that was in a queue of the scheduler, where a balancer may have found it just
  /// now.
  static void release_later(object_entry& entry, thread_context& thread) {
    thread.reader().retire(&entry, [](void* gone) { static_cast<object_entry*>(gone)->release_reference(); });
  }

  /// Whether an item of a scheduler is an entry.
  [[nodiscard]] bool is_entry(const work& item) const noexcept { return item.runs_by(activator_); }

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
  const work::runner activator_;
  name_table<object_entry> entries_;
};

}  // namespace nacre
