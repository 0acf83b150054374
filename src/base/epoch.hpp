// SPDX-License-Identifier: Apache-2.0
// Epoch-based reclamation: frees shared memory once no thread can still read it, at almost no cost to the readers.
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

/// Retired objects that wait until no thread can read them. Not thread-safe.
class epoch_limbo {
 public:
  /// Destroys one object. Must neither throw nor use the domain that calls it.
  using destroy_function = void (*)(void*);

  void add(void* object, destroy_function destroy) { waiting_.push_back({object, destroy, 0}); }
  [[nodiscard]] bool has_open() const noexcept { return sealed_ < waiting_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }

  /// Marks all objects added since the last seal: they may be destroyed once every reader has announced an epoch after
  /// `epoch`.
  void seal(std::uint64_t epoch) noexcept;
  /// Takes out the objects that may be destroyed when `oldest` is the oldest announcement.
  [[nodiscard]] epoch_limbo take_ready(std::uint64_t oldest);
  /// Takes over all objects of another limbo. Both must be sealed.
  void absorb(epoch_limbo& other);
  /// Destroys all objects. Returns their number.
  std::size_t destroy_all() noexcept;

 private:
  struct retired {
    void* object;
    destroy_function destroy;
    std::uint64_t epoch;
  };

  std::deque<retired> waiting_;
  std::size_t sealed_ = 0;  // this many objects, from the front, have an epoch
};

/// Quiescent-state-based reclamation for structures that are read without a lock (the directory's look-up).
///
/// Readers are participants. A participant holds no pointer into the shared structures when it calls quiescent(), or
/// while it is offline. A writer first unlinks an object, then retires it. The domain gathers retired objects in a
/// batch. collect(), which every 64th retirement calls, closes the batch by a new epoch. It then destroys every closed
/// batch if each participant has been quiescent or offline since that batch was closed.
///
/// | participant | quiescent | offline | online | batches that it keeps alive |
/// |---|---|---|---|---|
/// | online | announces the newest epoch | offline | announces the newest epoch | those closed since its announcement |
/// | offline | (an error) | offline | online | none |
///
/// Invariant: a batch closed in epoch e is destroyed only when every online participant has announced more than e. Why
/// this is safe: the epoch passes e only after the batch's objects were unlinked, so a participant that announced more
/// than e cannot find them any more. A participant that is neither quiescent nor offline for long delays the freeing of
/// memory, and breaks nothing. Source: quiescent-state-based reclamation, Hart et al., IPDPS 2006. The fence between
/// going online and reading costs the reader nothing; see asymmetric_fence.
class epoch_domain {
 public:
  class participant;
  using destroy_function = epoch_limbo::destroy_function;

  epoch_domain() = default;
  epoch_domain(const epoch_domain&) = delete;
  epoch_domain& operator=(const epoch_domain&) = delete;
  /// Destroys all remaining objects. No participant may remain.
  ~epoch_domain();

  /// Retires an object that has been unlinked; a thread that collects destroys it. Any thread. Takes a lock; a
  /// participant's own retire takes none.
  void retire(void* object, destroy_function destroy);

  /// Closes the batch and destroys all objects that no reader can still see, among those retired through the domain or
  /// left by former participants. Returns their number. Any thread.
  std::size_t collect();

 private:
  static constexpr std::uint64_t offline_epoch = 0;
  static constexpr std::size_t retirements_per_collection = 64;

  /// Begins a new epoch and returns the one that ends.
  std::uint64_t advance() noexcept {
    return epoch_.fetch_add(1, std::memory_order_acq_rel);  // pairs with the loads of epoch_ in quiescent and online
  }
  /// Returns the oldest announcement of an online participant; the largest number when all are offline. The caller
  /// holds the lock.
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
  /// Leaves the domain, which takes over the objects that this participant retired and could not destroy yet.
  ~participant();

  /// Announces that this participant holds no pointer. Called between two work items, while online. Costs one load, and
  /// a store only when the epoch has advanced.
  void quiescent() noexcept {
    NACRE_ASSERT_SLOW(last_announced_ != offline_epoch, "a participant is online() before it reads again");
    const std::uint64_t epoch = domain_.epoch_.load(std::memory_order_acquire);  // pairs with advance
    if (epoch == last_announced_) return;
    last_announced_ = epoch;
    announced_.store(epoch, std::memory_order_release);  // pairs with the loads in oldest_announced
  }

  /// Called before sleeping or blocking: the participant holds no pointer until it calls online().
  void offline() noexcept;
  void online() noexcept;
  /// The participant's own thread.
  [[nodiscard]] bool is_online() const noexcept { return last_announced_ != offline_epoch; }

  /// Retires an object that has been unlinked. Takes no lock except in every 64th call, which collects.
  void retire(void* object, destroy_function destroy);

  /// Closes the batch and destroys all objects that this participant retired and no reader can still see. Returns their
  /// number. Worth calling when idle.
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
