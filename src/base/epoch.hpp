// SPDX-License-Identifier: Apache-2.0
// Frees shared memory once no thread can still be reading it, at almost no cost to the readers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include <nacre/assert.hpp>

#include "base/cache_line.hpp"

namespace nacre {

/// Objects that have been given up and wait until nobody can read them. Not thread-safe.
class epoch_limbo {
 public:
  /// Destroys one object. Must neither throw nor use the domain that calls it.
  using destroy_function = void (*)(void*);

  void add(void* object, destroy_function destroy) { waiting_.push_back({object, destroy, 0}); }
  [[nodiscard]] bool has_open() const noexcept { return sealed_ < waiting_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

  /// Marks all that was added since the last seal: it may go once every reader announced an epoch after `epoch`.
  void seal(std::uint64_t epoch) noexcept;
  /// Takes out what may go when `oldest` is the oldest announcement.
  [[nodiscard]] epoch_limbo take_ready(std::uint64_t oldest);
  /// Takes over everything from another limbo. Both are sealed.
  void absorb(epoch_limbo& other);
  /// Destroys everything. Returns how many objects there were.
  std::size_t destroy_all() noexcept;

 private:
  struct retired {
    void* object;
    destroy_function destroy;
    std::uint64_t epoch;
  };

  std::deque<retired> waiting_;
  std::size_t sealed_ = 0;  // how many of them, from the front, have an epoch
};

/// Quiescent-state-based reclamation for structures whose readers take no lock (the directory's look-up).
///
/// Readers are participants. A participant holds no pointer into the shared structures when it says quiescent(), or
/// while it is offline. A writer first unlinks an object, then retires it. Retirements are gathered; collect() (which
/// every 64th retirement calls) closes the batch by a new epoch, and destroys the batches that every participant has
/// left behind: each has been quiescent or offline since the batch was closed.
///
/// | participant | quiescent | offline | online | holds back |
/// |---|---|---|---|---|
/// | online | announces the newest epoch | offline | announces the newest epoch | what was closed since its
/// announcement | | offline | (an error) | offline | online | nothing |
///
/// Invariant: what was closed in epoch e is destroyed when every online participant has announced more than e. The
/// epoch passes e only after the batch was unlinked, so whoever announced more than e cannot find its objects any more.
/// A participant that is neither quiescent nor offline for long holds memory, and breaks nothing.
/// Source: quiescent-state-based reclamation, Hart et al., IPDPS 2006. Where others put a fence between going online
/// and reading, both sides here use a read-modify-write on the participant's announcement.
class epoch_domain {
 public:
  class participant;
  using destroy_function = epoch_limbo::destroy_function;

  epoch_domain() = default;
  epoch_domain(const epoch_domain&) = delete;
  epoch_domain& operator=(const epoch_domain&) = delete;
  /// Destroys all that is left. No participant may remain.
  ~epoch_domain();

  /// Gives up an object that has been unlinked; it is destroyed in a thread that collects. Any thread; takes a lock,
  /// which a participant's own retire does not.
  void retire(void* object, destroy_function destroy);

  /// Closes the batch and destroys what may go, of the objects retired through the domain or left by former
  /// participants. Returns how many. Any thread.
  std::size_t collect();

 private:
  static constexpr std::uint64_t offline_epoch = 0;
  static constexpr std::size_t retirements_per_collection = 64;

  /// Begins a new epoch and returns the one that ends.
  std::uint64_t advance() noexcept {
    return epoch_.fetch_add(1, std::memory_order_acq_rel);  // pairs with the loads of epoch_ in quiescent and online
  }
  /// The oldest announcement of an online participant; the largest number when all are offline. Needs the lock.
  [[nodiscard]] std::uint64_t oldest_announced() noexcept;

  alignas(cache_line_bytes) std::atomic<std::uint64_t> epoch_{1};
  alignas(cache_line_bytes) std::mutex mutex_;
  std::vector<participant*> participants_;                     // under mutex_
  epoch_limbo limbo_;                                          // under mutex_
  std::size_t until_collection_ = retirements_per_collection;  // under mutex_
};

/// A reader's membership in a domain, used by one thread at a time. Online from the start.
class alignas(cache_line_bytes) epoch_domain::participant {
 public:
  explicit participant(epoch_domain& domain);
  participant(const participant&) = delete;
  participant& operator=(const participant&) = delete;
  /// Leaves; what it retired and could not destroy yet goes to the domain.
  ~participant();

  /// Between two work items, while online: says that no pointer is held. One load, and a store only when the epoch
  /// moved.
  void quiescent() noexcept {
    NACRE_ASSERT_SLOW(last_announced_ != offline_epoch, "a participant is online() before it reads again");
    const std::uint64_t epoch = domain_.epoch_.load(std::memory_order_acquire);  // pairs with advance
    if (epoch == last_announced_) return;
    last_announced_ = epoch;
    announced_.store(epoch, std::memory_order_release);  // pairs with the loads in oldest_announced
  }

  /// Before sleeping or blocking: holds no pointer until online() again.
  void offline() noexcept;
  void online() noexcept;
  /// Own thread.
  [[nodiscard]] bool is_online() const noexcept { return last_announced_ != offline_epoch; }

  /// Gives up an object that has been unlinked, without a lock except in every 64th call, which collects.
  void retire(void* object, destroy_function destroy);

  /// Closes the batch and destroys what may go, of the objects that it retired. Returns how many. Worth calling when
  /// idle.
  std::size_t collect();

 private:
  friend class epoch_domain;

  epoch_domain& domain_;
  std::atomic<std::uint64_t> announced_{offline_epoch};
  std::uint64_t last_announced_ = offline_epoch;
  epoch_limbo limbo_;
  std::size_t until_collection_ = retirements_per_collection;
};

}  // namespace nacre
