// SPDX-License-Identifier: Apache-2.0
// What a rank has sent to elements of arrays that have another home.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/ids.hpp>

#include "mobile/directory/homes.hpp"
#include "mobile/directory/name_table.hpp"

namespace nacre {

/// The number of the next message to each element, and whether the directory has an entry for it: 5 to 8 bytes an
/// element where a rank sends to many neighbours, 100 for one far from all others, as an entry takes. Most elements
/// stay at their home, which their names tell, so a rank that sends to them needs no entry, and one cache line less.
///
/// | an element that has another home | its messages | has_entry |
/// |---|---|---|
/// | nothing else is known of it | go to its home | false |
/// | it came here, or this rank has learned where it is | go to the rank in its entry | true |
///
/// Invariant: all messages of this rank to such an element are numbered here, whether it has an entry or not; so an
/// entry that comes or goes breaks no stream. The bit is set after the entry has been added; a thread that does not see
/// it yet sends to the home, which is always correct, and the bit stays set when the entry goes. When an array ends,
/// its entries go before its blocks.
///
/// Elements are kept in blocks of successive names. No two arrays share a block, see array_table::open. All functions:
/// any thread that is an online participant of `readers`.
class remote_elements {
 public:
  static constexpr std::size_t block_size = names_a_block;

 private:
  struct block {
    explicit block(object_id object) noexcept : id(object) {}
    const object_id id;
    std::atomic<std::uint32_t> has_entry{0};  // a bit for each element
    std::array<std::atomic<std::uint32_t>, block_size> next{};
  };

 public:
  /// One element; null for none.
  class place {
   public:
    place() = default;
    explicit operator bool() const noexcept { return in_ != nullptr; }
    /// The number of the next message to it; the thread that takes it sends the message.
    [[nodiscard]] std::atomic<std::uint32_t>& next_sequence() const noexcept { return in_->next[position_]; }
    [[nodiscard]] bool has_entry() const noexcept {
      return (in_->has_entry.load(std::memory_order_acquire) >> position_ & 1) != 0;  // pairs with note_entry
    }
    /// Whether messages to it have been numbered. A hint.
    [[nodiscard]] bool has_sent() const noexcept { return next_sequence().load(std::memory_order_relaxed) != 0; }
    /// An entry has been added to the directory.
    void note_entry() const noexcept {
      if (!has_entry()) in_->has_entry.fetch_or(std::uint32_t{1} << position_, std::memory_order_release);
    }

   private:
    friend class remote_elements;
    place(block* in, std::size_t index) noexcept : in_(in), position_(index) {}
    block* in_ = nullptr;
    std::size_t position_ = 0;
  };

  explicit remote_elements(epoch_domain& readers) : blocks_(readers) {}
  remote_elements(const remote_elements&) = delete;
  remote_elements& operator=(const remote_elements&) = delete;
  ~remote_elements() {
    blocks_.for_each([](block& left) { delete &left; });
  }

  /// Null when this rank knows nothing of the element, nor of the others in its block.
  [[nodiscard]] place find(object_id element) const noexcept {
    block* const known = blocks_.find(block_of(element));
    return known != nullptr ? place(known, element.index() % block_size) : place();
  }
  /// Whether this rank has numbered messages to an element that `find` knows.
  [[nodiscard]] bool has_sent_to(object_id element) const noexcept {
    const place known = element.is_element() ? find(element) : place();
    return known && known.has_sent();
  }
  [[nodiscard]] place find_or_add(object_id element) {
    if (const place known = find(element)) return known;
    auto result = std::make_unique<block>(block_of(element));
    block& remote = blocks_.add(*result);
    if (&remote == result.get()) static_cast<void>(result.release());
    return {&remote, element.index() % block_size};
  }
  /// Forgets the elements of an array that has ended. Calls entry_of(object_id) for each that has an entry, which goes
  /// first, and retire(void*, void (*destroy)(void*)), which calls `destroy` once no thread can see the block any more.
  /// `name_of`: gives the name of the element of a number below `count`. Takes time for the elements of the array, or
  /// for all blocks where those are fewer.
  template <class NameOf, class EntryOf, class Retire>
  void forget(std::uint64_t first_index, std::uint64_t count, NameOf name_of, EntryOf entry_of, Retire retire) {
    std::vector<block*> ended;
    if (count <= blocks_.size()) {
      for (std::uint64_t each = 0; each < count; ++each) {
        block* const known = blocks_.find(block_of(name_of(each)));
        if (known != nullptr && (ended.empty() || ended.back() != known)) ended.push_back(known);
      }
    } else {
      const std::uint64_t blocks = (count + block_size - 1) / block_size;
      blocks_.for_each([&](block& each) {
        const std::uint64_t index = each.id.value() * block_size & object_id::index_max;
        if ((index - first_index) / block_size < blocks) ended.push_back(&each);
      });
    }
    for (const block* const each : ended) visit_entries(*each, entry_of);
    for (block* const each : ended) remove(*each, retire);
  }
  /// Forgets the block of an element in this way; none of its elements gets another message that must not be lost.
  template <class EntryOf, class Retire>
  void forget_block(object_id element, EntryOf entry_of, Retire retire) {
    block* const ended = blocks_.find(block_of(element));
    if (ended == nullptr) return;
    visit_entries(*ended, entry_of);
    remove(*ended, retire);
  }

 private:
  template <class EntryOf>
  static void visit_entries(const block& block, EntryOf& entry_of) {
    std::uint32_t left = block.has_entry.load(std::memory_order_acquire);  // pairs with note_entry
    for (; left != 0; left &= left - 1) {
      entry_of(object_id::from_value(block.id.value() * block_size + static_cast<unsigned>(std::countr_zero(left))));
    }
  }
  template <class Retire>
  void remove(block& gone, Retire& retire) {
    if (blocks_.remove(gone)) retire(&gone, [](void* bytes) { delete static_cast<block*>(bytes); });
  }
  /// Of the whole name: a name with a wrong home must not take numbers of the right one.
  static object_id block_of(object_id element) noexcept { return object_id::from_value(element.value() / block_size); }

  name_table<block> blocks_;
};

}  // namespace nacre
