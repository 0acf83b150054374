// SPDX-License-Identifier: Apache-2.0
// The nodes of a block in memory, with the clocks of their threads.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/zeroed_memory.hpp"
#include "emulator/node_slot.hpp"

namespace nacre::emulator {

/// The slots of all nodes, and behind them the clocks of threads that have none in a slot: in half lines of the cache,
/// of four threads of a node each, those of the next four threads of all nodes first. The memory of clocks is touched
/// only where a node runs: a node that never runs costs a slot at most, and a thread of a number that no node uses
/// costs nothing. One thread at a time.
class node_table {
 public:
  node_table(std::uint32_t nodes, std::uint32_t threads)
      : nodes_(nodes), threads_(threads), bytes_(bytes_for(nodes, threads)), memory_(bytes_, slots_bytes(nodes)) {
    // Slots in small pages are soon touched, and a page that comes alone costs ten times what its clearing does.
    if (slots_bytes(nodes) <= page_chunks::huge_page_bytes / 2 && bytes_ >= page_chunks::huge_page_bytes) {
      static_cast<void>(::madvise(memory_.data(), slots_bytes(nodes), MADV_POPULATE_WRITE));  // advice only
    }
  }

  [[nodiscard]] std::uint32_t size() const noexcept { return nodes_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] node_slot& operator[](std::uint32_t node) const noexcept {
    return static_cast<node_slot*>(memory_.data())[node];
  }
  /// When the thread of a node is free.
  [[nodiscard]] virtual_time& clock_of(node_slot& slot, std::uint32_t thread) const noexcept {
    auto* const words = reinterpret_cast<virtual_time*>(&slot);
    const std::size_t word = thread + first_word;
    return words[word / words_a_half * words_a_half * nodes_ + word % words_a_half];
  }
  [[nodiscard]] node_extras& extras_of(node_slot& slot) {
    if (slot.extras == nullptr) slot.extras = &extras_.emplace_back();
    return *slot.extras;
  }
  /// Asks for the memory of a node that runs soon. A machine has more nodes than the cache holds lines, and one node
  /// leads from line to line: `stage` is how many of them have been asked for.
  // Inlined, as gcc 12 removes calls of functions that do nothing but prefetch.
  [[gnu::always_inline]] void fetch(std::uint32_t node, std::uint32_t stage) const noexcept {
    const node_slot& slot = (*this)[node];
    if (stage == 0) return __builtin_prefetch(&slot, 1);
    if (slot.extras == nullptr) return;
    __builtin_prefetch(slot.extras, 1);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(slot.extras) + line_bytes, 1);
  }
  /// Notes that a thread has run.
  void note_use(node_slot& slot, std::uint32_t thread) noexcept {
    if (thread < slot.used) [[likely]]
      return;
    const std::uint32_t used = std::min(thread / 8 * 8 + 8, threads_);  // seldom, where all threads begin in turn
    used_ += used - slot.used;
    slot.used = static_cast<std::uint16_t>(used);
  }
  /// The bytes that the table takes when it is packed, about: the states of programs are not known.
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept {
    constexpr std::uint64_t of_node = 8, of_extras = 64;
    return of_node * nodes_ + sizeof(virtual_time) * used_ + of_extras * extras_.size();
  }

 private:
  static constexpr std::size_t line_bytes = 64;
  [[nodiscard]] static std::size_t slots_bytes(std::uint32_t nodes) noexcept {
    return std::size_t{nodes} * sizeof(node_slot);
  }
  static constexpr std::size_t words_a_half = sizeof(node_slot) / sizeof(virtual_time);
  static constexpr std::size_t first_word = words_a_half - node_slot::clocks;
  [[nodiscard]] static std::uint64_t bytes_for(std::uint64_t nodes, std::uint32_t threads) noexcept {
    const std::uint64_t halves = (threads + first_word + words_a_half - 1) / words_a_half * nodes;
    return (halves + 1) / 2 * line_bytes;
  }

  std::uint32_t nodes_, threads_;
  std::uint64_t bytes_;
  zeroed_memory memory_;
  std::deque<node_extras> extras_;
  std::uint64_t used_ = 0;  ///< the sum of node_slot::used
};

}  // namespace nacre::emulator
