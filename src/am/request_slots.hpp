// SPDX-License-Identifier: Apache-2.0
// Values that wait for replies, each under a request id.
#pragma once

#include <algorithm>
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
template <class Value>
class request_slots {
 public:
  /// `first`: the generation of a slot that is new; not 0.
  explicit request_slots(std::uint32_t first = 1) noexcept : first_(first) {}

  [[nodiscard]] std::uint64_t open(Value value) {
    std::uint32_t index = 0;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back({.value = {}, .generation = first_});
    } else {
      index = free_.back();
      free_.pop_back();
    }
    slots_[index].value = std::move(value);
    slots_[index].used = true;
    return id_of(index);
  }
  /// Null for an id that is not valid. The pointer is valid until the next open.
  [[nodiscard]] Value* find(std::uint64_t id) noexcept { return const_cast<Value*>(std::as_const(*this).find(id)); }
  [[nodiscard]] const Value* find(std::uint64_t id) const noexcept {
    const auto index = static_cast<std::uint32_t>(id);
    return index < slots_.size() && slots_[index].used && id_of(index) == id ? &slots_[index].value : nullptr;
  }
  /// Destroys the value of a valid id, which becomes invalid.
  void close(std::uint64_t id) {
    const auto index = static_cast<std::uint32_t>(id);
    slot& ended = slots_[index];
    ended.value = Value{};
    ended.used = false;
    if (++ended.generation == 0) ended.generation = 1;
    free_.push_back(index);
  }

  /// Values that wait.
  [[nodiscard]] std::size_t count() const noexcept { return slots_.size() - free_.size(); }
  /// Calls visit_one(id, value) for the values in the first `slots_max` slots.
  template <class VisitOne>
  void visit(VisitOne visit_one, std::size_t slots_max = std::numeric_limits<std::size_t>::max()) const {
    for (std::uint32_t index = 0; index < std::min(slots_.size(), slots_max); ++index) {
      if (slots_[index].used) visit_one(id_of(index), slots_[index].value);
    }
  }

 private:
  struct slot {
    Value value{};
    std::uint32_t generation;
    bool used = false;
  };
  [[nodiscard]] std::uint64_t id_of(std::uint32_t index) const noexcept {
    return (std::uint64_t{slots_[index].generation} << 32) | index;
  }

  std::uint32_t first_;
  std::vector<slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace nacre
