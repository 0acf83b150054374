// SPDX-License-Identifier: Apache-2.0
// Copies between the memories of two processes of one host by one system call each.
#include "transport/shm/memory_copies.hpp"

#include <signal.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/spin.hpp"
#include "transport/shm/process_memory.hpp"

namespace nacre::transport::shm {
namespace {

constexpr std::uint32_t word_count = std::size(region_table{}.words);
constexpr std::uint32_t all_taken = (std::uint32_t{1} << word_count) - 1;

/// A region's id: its generation, and in the lowest bits the index of its word.
constexpr std::uint32_t index_bits = 5;
constexpr std::uint64_t index_of(std::uint64_t id) noexcept { return id & ((1u << index_bits) - 1); }

/// A word: the generation, and in its lowest bits the state.
enum state : std::uint64_t { free_word, registered_word, busy_word, used_word, state_count };
constexpr std::uint64_t word_of(std::uint64_t id, state now) noexcept { return (id >> index_bits) * state_count + now; }

/// Whether the process of a peer exists. It may be stopped.
bool exists(const shm_memory_copies::local_peer& peer) noexcept {
  return peer.handle != nullptr ? peer.handle->exists() : ::kill(peer.process, 0) == 0 || errno != ESRCH;
}

}  // namespace

shm_memory_copies::shm_memory_copies(std::uint32_t own_number, std::shared_ptr<segment> own_segment,
                                     std::vector<local_peer> peers)
    : own_number_(own_number), own_segment_(std::move(own_segment)), peers_(std::move(peers)), taken_(peers_.size()) {
  for (const local_peer& each : peers_) {
    if (each.able) shared(each.theirs->regions(own_number_).able).store(1, std::memory_order_relaxed);  // a flag alone
  }
}

bool shm_memory_copies::reaches(rank_id peer) const noexcept {
  const local_peer& other = peers_[peer.value()];
  return other.theirs != nullptr &&
         shared(own_segment_->regions(other.number).able).load(std::memory_order_relaxed) == 1;  // a flag alone
}

std::optional<registered_region> shm_memory_copies::register_region(rank_id target, std::span<std::byte> bytes,
                                                                    copy_way) {
  if (!reaches(target)) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  std::uint32_t& taken = taken_[target.value()];
  if (taken == all_taken) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(std::countr_one(taken));
  taken |= std::uint32_t{1} << index;
  const std::uint64_t id = ++generation_ << index_bits | index;
  // relaxed: the message that brings the id to the peer orders it
  shared(own_segment_->regions(peers_[target.value()].number).words[index])
      .store(word_of(id, registered_word), std::memory_order_relaxed);
  return registered_region{.id = id, .address = reinterpret_cast<std::uint64_t>(bytes.data())};
}

void shm_memory_copies::deregister(rank_id source, const registered_region& region) noexcept {
  const std::uint64_t index = index_of(region.id);
  const auto word = shared(own_segment_->regions(peers_[source.value()].number).words[index]);
  std::uint64_t now = word_of(region.id, registered_word);
  // acquire: pairs with the store of used_word, so that the bytes that the peer has written are seen
  if (!word.compare_exchange_strong(now, word_of(region.id, free_word), std::memory_order_acquire)) {
    for (backoff waiting; now == word_of(region.id, busy_word); now = word.load(std::memory_order_acquire)) {
      if (waiting.yields() && !exists(peers_[source.value()])) break;
      waiting.pause();
    }
  }
  const std::scoped_lock lock(mutex_);
  taken_[source.value()] &= ~(std::uint32_t{1} << index);
}

copy_outcome shm_memory_copies::copy(const direct_copy& copy) {
  const local_peer& owner = peers_[copy.peer.value()];
  const std::uint64_t index = index_of(copy.region.id);
  if (!owner.able || index >= word_count) return copy_outcome::failed;
  const auto word = shared(owner.theirs->regions(own_number_).words[index]);
  std::uint64_t now = word_of(copy.region.id, registered_word);
  // acquire: no byte is copied before the word is busy
  if (!word.compare_exchange_strong(now, word_of(copy.region.id, busy_word), std::memory_order_acquire)) {
    return copy_outcome::failed;
  }
  // When the owner has ended, its number may be another process's.
  const bool well =
      copy.way == copy_way::from_region
          ? read_memory(owner.process, copy.region.address, copy.local_memory.data(), copy.local_memory.size()) &&
                exists(owner)
          : exists(owner) &&
                write_memory(owner.process, copy.region.address, copy.local_memory.data(), copy.local_memory.size());
  if (!well && (errno == EPERM || errno == ENOSYS)) {
    shared(owner.theirs->regions(own_number_).able).store(0, std::memory_order_relaxed);  // a flag alone
  }
  word.store(word_of(copy.region.id, used_word), std::memory_order_release);  // pairs with the loads of deregister
  return well ? copy_outcome::done : copy_outcome::failed;
}

}  // namespace nacre::transport::shm
