// SPDX-License-Identifier: Apache-2.0
// A lock-free hash table from names to items, with wait-free look-up even while the table is replaced.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <nacre/ids.hpp>

#include "base/epoch.hpp"
#include "base/zeroed_memory.hpp"

namespace nacre {

/// Open addressing over words that any thread changes by compare-and-swap. The table does not own the items. An Item
/// has an `id`.
///
/// | word | meaning | becomes |
/// |---|---|---|
/// | empty | free; no name that begins before it lies behind it | live; closed |
/// | live | an item, with 16 bits of its name's hash | removed; frozen |
/// | removed | an item was there; kept for threads that may still be copying it | - |
/// | frozen | the item is being copied to the next table, and may be there already | moved |
/// | moved | the item is in the next table, or has been | - |
/// | closed | was empty: an add goes on in the next table | - |
///
/// A table with half of its words not empty, or almost no items left after removals, gets a next table, of the size
/// that its items need. From then on every add and remove copies some words to it, so no operation waits for the whole
/// copy; an operation that finds the next table full before the copy is complete completes the copy.
///
/// Invariants. A name is in one word of one table, except that its frozen word and its copy exist together. A name can
/// be added only to its first empty word: two adds of a name meet there, and an add to the next table has closed it. A
/// table gets a next one only when the table before it has been copied completely; so a thread that copies an item late
/// and sees its word moved or closed knows that others have copied it. The memory of an item is reused only when no
/// thread can see the item any more (`readers`), so a removed word names one item.
///
/// Ref accesses shared words atomically; a test passes one that stops before each access. Source of cooperative
/// copying: Click, A lock-free wait-free hash table (2007).
template <class Item, template <class> class Ref = std::atomic_ref>
class name_table {
 public:
  static constexpr std::size_t capacity_min = 256;

  /// All threads that use the table are online participants of `readers`. `capacity`: a power of two, 8 or more; no
  /// next table is smaller.
  explicit name_table(epoch_domain& readers, std::size_t capacity = capacity_min)
      : readers_(readers), least_(capacity), current_(new table(capacity)) {}
  name_table(const name_table&) = delete;
  name_table& operator=(const name_table&) = delete;
  ~name_table() {
    delete current_->next;
    delete current_;
  }

  /// Null when there is none of that name. Wait-free.
  [[nodiscard]] Item* find(object_id id) const noexcept {
    const place_of place(id);
    // acquire: pairs with the releases of the threads that put the table, the word or the next table there.
    table* in = load(current_);
    for (std::size_t index = place.first;; ++index) {
      const std::uint64_t word = load(in->word(index));
      if (word == empty || word == closed) {
        in = load(in->next);
        if (in == nullptr) return nullptr;
        index = place.first - 1;
      } else if (place.may_be(word) && (word & state_mask) != removed) {
        Item* const match = item_of(word);
        if (match->id == id) return match;
      }
    }
  }

  /// The first place of a name; with prefetch_item, once it has come, a hint for a look-up that comes soon.
  void prefetch_place(object_id id) const noexcept { __builtin_prefetch(&first_word(id)); }
  void prefetch_item(object_id id) const noexcept { __builtin_prefetch(item_of(load(first_word(id))), 1); }

  /// Adds an item, unless there is one of its name; returns the item that is there in the end. Lock-free.
  Item& add(Item& fresh) {
    const place_of place(fresh.id);
    for (;;) {
      table* const begin = load(current_);
      help(*begin);
      if (Item* const remote = add_from(*begin, place, fresh)) return *remote;
    }
  }

  /// Removes an item. False: it had been removed before. Lock-free.
  bool remove(const Item& gone) {
    table* const begin = load(current_);
    help(*begin);
    if (!remove_from(*begin, gone)) return false;
    const std::size_t left = ref(size_).fetch_sub(1, std::memory_order_relaxed) - 1;
    if (begin->capacity() > least_ && left * 16 < begin->capacity() && load(begin->next) == nullptr) replace(*begin);
    return true;
  }

  [[nodiscard]] std::size_t size() const noexcept { return ref(size_).load(std::memory_order_relaxed); }
  /// Words of the newest table.
  [[nodiscard]] std::size_t capacity() const noexcept {
    const table *const now = load(current_), *const next = load(now->next);
    return (next != nullptr ? next : now)->capacity();
  }

  /// Calls `visit(Item&)` for items that are there. One that comes, goes or is copied meanwhile may be missed.
  template <class Visit>
  void for_each(Visit visit) const {
    table* all = load(current_);
    for (; load(all->next) != nullptr; all = load(current_)) complete(*all);
    for (std::size_t index = 0; index < all->capacity(); ++index) {
      const std::uint64_t word = load(all->word(index));
      if (word != empty && (word & state_mask) <= frozen) visit(*item_of(word));
    }
  }

  /// Visits the items in at most `most` words, from number `cursor` on, which moves on and begins anew at the end;
  /// where there are two tables, their words are counted one after the other. True: these were all words. An item that
  /// moves meanwhile may be missed, or visited twice.
  template <class Visit>
  bool visit_some(std::size_t& cursor, std::size_t most, Visit visit) const {
    const table* const now = load(current_);
    const table* const next = load(now->next);
    const std::size_t words = now->capacity() + (next != nullptr ? next->capacity() : 0);
    if (cursor >= words) cursor = 0;
    const std::size_t count = std::min(most, words);
    for (std::size_t seen = 0; seen < count; ++seen, cursor = cursor + 1 == words ? 0 : cursor + 1) {
      const bool second = cursor >= now->capacity();
      const std::uint64_t word = load((second ? next : now)->word(second ? cursor - now->capacity() : cursor));
      if (word != empty && (word & state_mask) <= frozen) visit(*item_of(word));
    }
    return count == words;
  }

 private:
  static constexpr std::uint64_t state_mask = 7, live = 0, frozen = 1, removed = 2;
  static constexpr std::uint64_t empty = 0, closed = 4, moved = 5;  // words without an item
  static constexpr int item_bits = 48;                              // of an address; above them a part of the hash
  static constexpr std::size_t words_copied_at_once = 64;
  static constexpr std::size_t large_capacity = 8192;  // 64 KiB
  static_assert(alignof(Item) > state_mask);

  struct table {
    explicit table(std::size_t capacity) : words(capacity * sizeof(std::uint64_t)), mask(capacity - 1) {}
    [[nodiscard]] std::uint64_t& word(std::size_t index) const noexcept {
      return static_cast<std::uint64_t*>(words.data())[index & mask];
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return mask + 1; }

    zeroed_memory words;
    std::size_t mask;
    table* next = nullptr;
    std::size_t used = 0;     // words not empty, but for adds under way
    std::size_t claimed = 0;  // pieces of which the copy has begun; and ended:
    std::size_t copied = 0;
  };

  /// Where a name belongs. Eight names in a row are neighbours in one cache line.
  struct place_of {
    explicit place_of(object_id id) noexcept
        : first((detail::mix_bits(id.value() >> 3) << 3) | (id.value() & 7)),
          tag(detail::mix_bits(id.value()) << item_bits) {}
    [[nodiscard]] bool may_be(std::uint64_t word) const noexcept {
      return (word ^ tag) >> item_bits == 0 && (word & ~state_mask) != 0;
    }
    std::size_t first;
    std::uint64_t tag;
  };

  template <class T>
  static Ref<T> ref(T& shared) noexcept {
    return Ref<T>(shared);
  }
  template <class T>
  static T load(T& value) noexcept {
    return ref(value).load(std::memory_order_acquire);
  }
  /// True if the old value was `known`; otherwise sets `known` to the old value. release: publishes the item; acquire:
  /// sees another thread's item.
  template <class T>
  static bool change(T& value, T& known, T wanted) noexcept {
    return ref(value).compare_exchange_strong(known, wanted, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  std::uint64_t& first_word(object_id id) const noexcept { return load(current_)->word(place_of(id).first); }
  static Item* item_of(std::uint64_t word) noexcept {
    return reinterpret_cast<Item*>(word & ((std::uint64_t{1} << item_bits) - 1) & ~state_mask);
  }
  static std::uint64_t live_word(const place_of& place, const Item& item) noexcept {
    return place.tag | reinterpret_cast<std::uintptr_t>(&item);
  }

  /// Null: the caller must try again from the current table.
  Item* add_from(table& begin, const place_of& place, Item& fresh) {
    table* in = &begin;
    std::size_t index = place.first;
    std::uint64_t word = load(in->word(index));
    for (;;) {
      if (word == empty) {
        if (load(in->next) != nullptr) {
          if (change(in->word(index), word, closed)) word = closed;
        } else if (Ref(in->used).load(std::memory_order_relaxed) * 2 >= in->capacity()) {
          replace(*in);
          return nullptr;
        } else if (change(in->word(index), word, live_word(place, fresh))) {
          Ref(in->used).fetch_add(1, std::memory_order_relaxed);  // a bound that need not be exact
          ref(size_).fetch_add(1, std::memory_order_relaxed);
          return &fresh;
        }
        continue;
      }
      if (word == closed) {
        in = load(in->next);
        index = place.first;
      } else {
        if (place.may_be(word) && (word & state_mask) != removed && item_of(word)->id == fresh.id) return item_of(word);
        ++index;
      }
      word = load(in->word(index));
    }
  }

  static bool remove_from(table& begin, const Item& gone) {
    const place_of place(gone.id);
    table* in = &begin;
    std::size_t index = place.first;
    std::uint64_t word = load(in->word(index));
    for (;;) {
      if (word == empty || word == closed) {
        in = load(in->next);
        if (in == nullptr) return false;
        index = place.first - 1;
      } else if (place.may_be(word) && item_of(word) == &gone && (word & state_mask) != removed) {
        if ((word & state_mask) == frozen) {
          move_on(*in, index, word);  // it must not be found here when it is removed there
        } else if (change(in->word(index), word, word | removed)) {
          return true;
        } else {
          continue;
        }
      }
      word = load(in->word(++index));
    }
  }

  /// Copies the item of a frozen word, then marks the word moved.
  static void move_on(table& source, std::size_t index, std::uint64_t word) {
    Item& item = *item_of(word);
    const place_of place(item.id);
    table& target = *load(source.next);
    const std::uint64_t wanted = live_word(place, item);
    for (std::size_t last = place.first;; ++last) {
      std::uint64_t present_count = load(target.word(last));
      if (present_count == empty && change(target.word(last), present_count, wanted)) {
        ref(target.used).fetch_add(1, std::memory_order_relaxed);  // a bound that need not be exact
        break;
      }
      if (present_count == moved || present_count == closed || (present_count & ~state_mask) == wanted)
        break;  // others have copied it
    }
    change(source.word(index), word, moved);
  }

  static void copy(table& other_table, std::size_t begin, std::size_t end) {
    for (std::size_t index = begin; index < end; ++index) {
      std::uint64_t word = load(other_table.word(index));
      if (word == empty && change(other_table.word(index), word, closed)) continue;
      if (word == closed || word == moved) continue;
      if ((word & state_mask) == live && change(other_table.word(index), word, word | frozen)) word |= frozen;
      if ((word & state_mask) == frozen) move_on(other_table, index, word);
    }
  }

  /// The number of words that one add or remove copies: enough to be done before a smaller table is full again.
  static std::size_t piece(const table& source, const table& target) noexcept {
    return std::min(source.capacity(), std::max(words_copied_at_once, source.capacity() / target.capacity() * 16));
  }

  /// Copies a piece to the next table, if there is one.
  void help(table& source) {
    const table* const target = load(source.next);
    if (target == nullptr) return;
    const std::size_t words = piece(source, *target), pieces = source.capacity() / words;
    const std::size_t mine = ref(source.claimed).fetch_add(1, std::memory_order_relaxed);
    if (mine >= pieces) return;
    copy(source, mine * words, (mine + 1) * words);
    // acq_rel: the thread that counts the last piece has seen all others.
    if (ref(source.copied).fetch_add(1, std::memory_order_acq_rel) + 1 == pieces) promote(source);
  }

  void complete(table& other_table) const {
    copy(other_table, 0, other_table.capacity());
    promote(other_table);
  }

  /// Makes the next table current; all of `other_table` has been copied.
  void promote(table& other_table) const {
    table* known = &other_table;
    if (!change(current_, known, load(other_table.next))) return;
    // Small tables wait until there are many of them. Large ones would take much memory, so those before go now.
    if (other_table.capacity() >= large_capacity) readers_.collect();
    readers_.retire(&other_table, [](void* gone) { delete static_cast<table*>(gone); });
  }

  /// Gives a table a next one, once the table is the current one.
  void replace(table& full) {
    for (table* other_table = load(current_); other_table != &full; other_table = load(current_)) {
      if (load(other_table->next) != &full) return;  // it has been replaced long ago
      complete(*other_table);
    }
    if (load(full.next) != nullptr) return;
    auto* const result = new table(std::max(least_, std::bit_ceil(size() * 3)));
    table* none = nullptr;
    if (!change(full.next, none, result)) delete result;
  }

  epoch_domain& readers_;
  const std::size_t least_;
  mutable table* current_;
  mutable std::size_t size_ = 0;
};

}  // namespace nacre
