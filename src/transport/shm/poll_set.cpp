// SPDX-License-Identifier: Apache-2.0
// The set of peers that a rank polls, and the doorbells of all other peers.
#include "transport/shm/poll_set.hpp"

#include <algorithm>
#include <bit>

namespace nacre::transport::shm {
namespace {

constexpr std::uint32_t word_bits = 64;

}  // namespace

bool poll_set::rung() const noexcept {
  if (!uses_doorbells()) return false;
  if (any_pending_.load(std::memory_order_relaxed)) return true;  // the polling thread looks again anyway
  for (std::size_t word = 0; word < pending_.size(); ++word) {
    if (shared(head_.doorbells[word]).load() != 0) return true;
  }
  return false;
}

bool poll_set::admit(std::uint32_t peer) {
  for (place& each : places_) {
    if (each.peer.load(std::memory_order_relaxed) != 0) continue;  // own
    each.peer.store(peer + 1, std::memory_order_relaxed);          // see polled
    each.misses = 0;
    return true;
  }
  return false;
}

void poll_set::remove(std::uint32_t peer) {
  for (place& each : places_) {
    if (each.peer.load(std::memory_order_relaxed) == peer + 1) each.peer.store(0, std::memory_order_relaxed);  // own
  }
  set_pending(peer, false);
}

std::optional<std::size_t> poll_set::idle_place() const noexcept {
  const auto longest = std::max_element(places_.begin(), places_.end(),
                                        [](const place& a, const place& b) { return a.misses < b.misses; });
  if (longest->misses < misses_max) return std::nullopt;
  return static_cast<std::size_t>(longest - places_.begin());
}

void poll_set::assign(std::size_t index, std::uint32_t peer) noexcept {
  places_[index].peer.store(peer + 1, std::memory_order_relaxed);  // see polled
  places_[index].misses = 0;
}

bool poll_set::take_doorbells() noexcept {
  for (std::size_t word = 0; word < pending_.size(); ++word) {
    // relaxed: the next poll sees a bit that this one misses, or the check before a sleep does, which is seq_cst
    if (shared(head_.doorbells[word]).load(std::memory_order_relaxed) == 0) continue;
    const std::uint32_t above = ranks_ - static_cast<std::uint32_t>(word) * word_bits;
    const std::uint64_t members = above < word_bits ? (std::uint64_t{1} << above) - 1 : ~std::uint64_t{0};
    pending_[word] |= shared(head_.doorbells[word]).exchange(0) & members;  // any peer may set any bit here
    any_pending_.store(true, std::memory_order_relaxed);                    // see rung
  }
  return any_pending_.load(std::memory_order_relaxed);  // own
}

std::optional<std::uint32_t> poll_set::next_pending(std::uint32_t& cursor) const noexcept {
  while (cursor < round_ + ranks_) {
    const std::uint32_t peer = cursor % ranks_;
    const std::uint64_t rest = pending_[peer / word_bits] >> peer % word_bits;
    if (rest != 0) {
      const std::uint32_t found_count = peer + static_cast<std::uint32_t>(std::countr_zero(rest));
      cursor += found_count - peer + 1;
      if (cursor > round_ + ranks_) continue;
      return found_count;
    }
    cursor += std::min(word_bits - peer % word_bits, ranks_ - peer);
  }
  return std::nullopt;
}

void poll_set::set_pending(std::uint32_t peer, bool pends) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << peer % word_bits;
  std::uint64_t& word = pending_[peer / word_bits];
  word = pends ? word | bit : word & ~bit;
  const bool any = pends || std::any_of(pending_.begin(), pending_.end(), [](std::uint64_t w) { return w != 0; });
  any_pending_.store(any, std::memory_order_relaxed);  // see rung
}

}  // namespace nacre::transport::shm
