// SPDX-License-Identifier: Apache-2.0
// The states of the nodes of a block: for each type, the values of neighbouring nodes side by side.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/emulator/handler.hpp>
#include "base/cache_line.hpp"
#include "emulator/slab_memory.hpp"

namespace nacre::emulator {

/// The values of one type. Nodes run in the order of their numbers, so a walk over them finds the values in memory one
/// behind the other. A value stays where it is. One thread at a time.
class state_column {
 public:
  state_column(const detail::emulated_state& row, std::uint32_t nodes)
      : row_(row), shift_(shift_for(row.bytes)), memory_(std::uint64_t{nodes} * row.bytes) {
    rows_.resize((nodes >> shift_) + 1);
  }
  state_column(const state_column&) = delete;
  state_column& operator=(const state_column&) = delete;
  ~state_column() {
    for_each([this](std::uint32_t, void* value) { row_.destroy(value); });
  }

  [[nodiscard]] const detail::emulated_state& row() const noexcept { return row_; }
  /// The value of a node; null when it has none.
  [[nodiscard]] void* find(std::uint32_t node) const noexcept {
    const neighbours& neighbours = rows_[node >> shift_];
    return (neighbours.occupancy >> place_of(node) & 1) != 0 ? value_at(neighbours, place_of(node)) : nullptr;
  }
  /// Makes the value of a node that has none.
  [[nodiscard]] void* make(std::uint32_t node) {
    neighbours& neighbours = rows_[node >> shift_];
    if (neighbours.values == nullptr) neighbours.values = memory_.take(bytes_of_neighbours());
    void* const value = value_at(neighbours, place_of(node));
    row_.make(value);
    neighbours.occupancy |= std::uint64_t{1} << place_of(node);
    ++count_;
    return value;
  }
  /// Asks for the memory of the value of a node that runs soon.
  [[gnu::always_inline]] void fetch(std::uint32_t node) const noexcept {
    const neighbours& neighbours = rows_[node >> shift_];
    if (neighbours.values != nullptr) __builtin_prefetch(value_at(neighbours, place_of(node)), 1);
  }
  /// Calls visit(node, value) for each value, in the order of the nodes.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      for (std::uint64_t made_count = rows_[k].occupancy; made_count != 0; made_count &= made_count - 1) {
        const auto place = static_cast<std::uint32_t>(std::countr_zero(made_count));
        visit(static_cast<std::uint32_t>(k << shift_) + place, value_at(rows_[k], place));
      }
    }
  }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

 private:
  /// The values of 1 << shift_ nodes.
  struct neighbours {
    std::byte* values = nullptr;
    std::uint64_t occupancy = 0;  ///< a bit for each node that has one
  };
  /// As many neighbours as a word has bits, fewer of large values: a node that is alone with its value takes the
  /// addresses for all of them.
  [[nodiscard]] static std::uint32_t shift_for(std::size_t bytes) noexcept {
    constexpr std::size_t bytes_max = std::size_t{1} << 16;
    std::uint32_t shift = 6;
    while (shift > 0 && bytes << shift > bytes_max) --shift;
    return shift;
  }
  [[nodiscard]] std::size_t bytes_of_neighbours() const noexcept {
    return ((std::size_t{row_.bytes} << shift_) + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
  }
  [[nodiscard]] std::uint32_t place_of(std::uint32_t node) const noexcept { return node & ((1U << shift_) - 1); }
  [[nodiscard]] std::byte* value_at(const neighbours& neighbours, std::uint32_t place) const noexcept {
    return neighbours.values + std::size_t{place} * row_.bytes;
  }

  const detail::emulated_state& row_;
  const std::uint32_t shift_;
  std::vector<neighbours> rows_;
  slab_memory memory_;
  std::uint32_t count_ = 0;
};

/// The values of all types.
class node_states {
 public:
  explicit node_states(std::uint32_t nodes) noexcept : nodes_(nodes) {}

  /// The value of a node, made when it is first asked for.
  [[nodiscard]] void* of(std::uint32_t node, const detail::emulated_state& row) {
    state_column& column = column_of(row);
    if (void* const value = column.find(node)) [[likely]]
      return value;
    if (row.pack == nullptr) ++unpackable_;
    return column.make(node);
  }
  [[gnu::always_inline]] void fetch(std::uint32_t node) const noexcept {
    for (const auto& column : used_) column->fetch(node);
  }
  /// Whether there is a value that cannot be packed.
  [[nodiscard]] bool unpackable() const noexcept { return unpackable_ != 0; }
  /// The columns in the order of their first use.
  [[nodiscard]] const std::vector<std::unique_ptr<state_column>>& columns() const noexcept { return used_; }

 private:
  [[nodiscard]] state_column& column_of(const detail::emulated_state& row) {
    if (row.id < by_type_.size() && by_type_[row.id] != nullptr) [[likely]]
      return *by_type_[row.id];
    used_.push_back(std::make_unique<state_column>(row, nodes_));
    if (row.id >= by_type_.size()) by_type_.resize(row.id + 1);
    by_type_[row.id] = used_.back().get();
    return *used_.back();
  }

  std::uint32_t nodes_;
  std::vector<state_column*> by_type_;  ///< by emulated_state::id; null for types that no node has
  std::vector<std::unique_ptr<state_column>> used_;
  std::uint64_t unpackable_ = 0;
};

}  // namespace nacre::emulator
