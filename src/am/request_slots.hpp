// SPDX-License-Identifier: Apache-2.0
// Values that wait for replies, each under a request id.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace nacre {

/// A request id goes with a request and comes back with its reply. It is never 0, and not valid again before its slot
/// has been used 2^32 - 1 times more, so a forged or repeated reply finds nothing. Its lower half is the index of a
/// slot; its upper half is the slot's generation, which grows each time that the slot becomes free, and wraps. Each
/// request has one reply, which frees the slot, so no reply is so late that it meets its number again. One thread at a
/// time.
///
/// Slots lie in blocks, and the lowest block with a free one is used first. An empty block gives its memory back, but
/// for a generation that is above those of its slots, unless one of them has wrapped. So memory follows the values that
/// wait, and no growth moves more than a block.
template <class Value>
class request_slots {
 public:
  static constexpr std::uint32_t block_slots = 1024;
  /// `first`: the generation of a slot that is new; not 0.
  explicit request_slots(std::uint32_t first = 1) noexcept : first_(first) {}

  [[nodiscard]] std::uint64_t open(Value value) {
    const std::uint32_t place = place_with_room();
    block& in = blocks_[place];
    std::uint32_t offset = in.free;
    if (offset == none) {
      offset = static_cast<std::uint32_t>(in.slots.size());
      in.slots.push_back({.value = {}, .generation = in.first, .next = none});
    } else {
      in.free = in.slots[offset].next;
    }
    slot& opened = in.slots[offset];
    opened.value = std::move(value);
    opened.next = waits;
    if (++in.used == block_slots) rooms_[place / word_bits] &= ~bit_of(place);
    ++count_;
    return id_of(place * block_slots + offset, opened);
  }
  /// Null for an id that is not valid. The pointer is valid until the next open.
  [[nodiscard]] Value* find(std::uint64_t id) noexcept { return const_cast<Value*>(std::as_const(*this).find(id)); }
  [[nodiscard]] const Value* find(std::uint64_t id) const noexcept {
    const auto index = static_cast<std::uint32_t>(id);
    const std::uint32_t place = index / block_slots, offset = index % block_slots;
    if (place >= blocks_.size() || offset >= blocks_[place].slots.size()) return nullptr;
    const slot& match = blocks_[place].slots[offset];
    return match.next == waits && id_of(index, match) == id ? &match.value : nullptr;
  }
  /// Destroys the value of a valid id, which becomes invalid.
  void close(std::uint64_t id) noexcept {
    const auto index = static_cast<std::uint32_t>(id);
    const std::uint32_t place = index / block_slots, offset = index % block_slots;
    block& in = blocks_[place];
    slot& ended = in.slots[offset];
    ended.value = Value{};
    if (++ended.generation == 0) {
      ended.generation = 1;
      in.stays = true;
    }
    ended.next = std::exchange(in.free, offset);
    if (in.used-- == block_slots) rooms_[place / word_bits] |= bit_of(place);
    --count_;
    if (in.used == 0 && place != 0 && !in.stays) in.empty();
  }

  /// Values that wait.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Slots that take memory.
  [[nodiscard]] std::size_t kept() const noexcept {
    std::size_t all = 0;
    for (const block& each : blocks_) all += each.slots.capacity();
    return all;
  }
  /// Calls visit_one(id, value) for the values in the first `slots_max` slots.
  template <class VisitOne>
  void visit(VisitOne visit_one, std::size_t slots_max = std::numeric_limits<std::size_t>::max()) const {
    std::size_t left = slots_max;
    for (std::uint32_t place = 0; place < blocks_.size(); ++place) {
      const std::vector<slot>& slots = blocks_[place].slots;
      for (std::uint32_t offset = 0; offset < slots.size(); ++offset) {
        if (left-- == 0) return;
        if (slots[offset].next == waits)
          visit_one(id_of(place * block_slots + offset, slots[offset]), slots[offset].value);
      }
    }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0}, waits = none - 1;  // of slot::next, beside offsets
  static constexpr std::uint32_t word_bits = 64;
  struct slot {
    Value value{};
    std::uint32_t generation;
    std::uint32_t next;  ///< free slot; `waits`: this one is used
  };
  struct block {
    std::vector<slot> slots{};
    std::uint32_t first;        ///< the generation of a slot that is new
    std::uint32_t free = none;  ///< slots of the block
    std::uint32_t used = 0;
    bool stays = false;  ///< a generation has wrapped
    /// No slot has had the generation of the new ones, or a later one.
    void empty() noexcept {
      for (const slot& each : slots) first = std::max(first, each.generation);
      std::vector<slot>().swap(slots);
      free = none;
    }
  };
  [[nodiscard]] static std::uint64_t id_of(std::uint32_t index, const slot& named) noexcept {
    return (std::uint64_t{named.generation} << 32) | index;
  }
  [[nodiscard]] static std::uint64_t bit_of(std::uint32_t place) noexcept {
    return std::uint64_t{1} << (place % word_bits);
  }
  /// The lowest block with a free slot, made if there is none.
  [[nodiscard]] std::uint32_t place_with_room() {
    for (std::uint32_t word = 0; word < rooms_.size(); ++word) {
      if (rooms_[word] != 0) return word * word_bits + static_cast<std::uint32_t>(std::countr_zero(rooms_[word]));
    }
    const auto place = static_cast<std::uint32_t>(blocks_.size());
    if (place % word_bits == 0) rooms_.reserve(place / word_bits + 1);
    blocks_.push_back({.first = first_});
    if (place % word_bits == 0) rooms_.push_back(0);
    rooms_[place / word_bits] |= bit_of(place);
    return place;
  }

  std::uint32_t first_;
  std::size_t count_ = 0;
  std::vector<block> blocks_;
  std::vector<std::uint64_t> rooms_;  // a bit for each block: it has a free slot
};

}  // namespace nacre
