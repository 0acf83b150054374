// SPDX-License-Identifier: Apache-2.0
// Frees shared memory once no thread can still be reading it, at almost no cost to the readers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "base/cache_line.hpp"

namespace nacre {

/// Quiescent-state-based reclamation for structures whose readers take no lock (the directory's look-up).
///
/// Readers are participants. A participant holds no pointer into the shared structures when it says quiescent(), or while it
/// is offline. A writer first unlinks an object, then retires it; it is destroyed once every participant that was online
/// at that time has been quiescent or offline since.
///
/// | participant | quiescent | offline | online | blocks reclamation |
/// |---|---|---|---|---|
/// | online | announces the newest epoch | offline | (error) | of everything retired after its announcement |
/// | offline | (error) | (error) | announces the newest epoch | no |
///
/// Invariant: an object retired in epoch e is destroyed only after every online participant announced an epoch > e, and an
/// announcement of e + 1 happens after the retirement. A participant that neither is quiescent nor goes offline holds all
/// reclamation up: memory grows, nothing breaks.
/// Source: quiescent-state-based reclamation after Hart et al., IPDPS 2006. The step from offline to online is ordered by
/// read-modify-writes on both sides instead of fences.
class epoch_domain {
 public:
  class participant;

  /// Destroys an object given to retire. Runs in the thread that collects; must neither throw nor use the domain.
  using destroy_function = void (*)(void*);

  epoch_domain() = default;
  epoch_domain(const epoch_domain&) = delete;
  epoch_domain& operator=(const epoch_domain&) = delete;
  /// Destroys all that is left. No participant may remain.
  ~epoch_domain();

  /// Gives up an object that has been unlinked. Any thread; takes a lock. Participants have a cheaper one.
  void retire(void* object, destroy_function destroy);

  /// Destroys what may be destroyed of the objects retired through the domain and left by former participants. Returns how
  /// many. Any thread.
  std::size_t collect();

 private:
  struct retired {
    void* object;
    destroy_function destroy;
    std::uint64_t epoch;  // may go once every online participant announced a larger one
  };
  static constexpr std::uint64_t offline_epoch = 0;

  std::size_t destroy_ready(std::deque<retired>& queue, std::uint64_t safe);
  /// The smallest epoch that an online participant has announced. Needs the lock.
  [[nodiscard]] std::uint64_t oldest_announced() const noexcept;

  alignas(cache_line_bytes) std::atomic<std::uint64_t> epoch_{1};
  alignas(cache_line_bytes) mutable std::mutex mutex_;
  std::vector<participant*> participants_;  // under mutex_
  std::deque<retired> retired_;             // under mutex_; epochs ascend
};

/// A reader's membership in a domain, for one thread at a time. Online from the start.
class alignas(cache_line_bytes) epoch_domain::participant {
 public:
  explicit participant(epoch_domain& domain);
  participant(const participant&) = delete;
  participant& operator=(const participant&) = delete;
  /// Leaves; what it retired and could not destroy yet goes to the domain.
  ~participant();

  /// Between two work items: says that no pointer is held. One load, and a store only when the epoch moved.
  void quiescent() noexcept {
    const std::uint64_t epoch = domain_.epoch_.load(std::memory_order_acquire);  // pairs with the increments of epoch_
    if (epoch == last_announced_) return;
    last_announced_ = epoch;
    announced_.store(epoch, std::memory_order_release);  // pairs with the loads in oldest_announced
  }

  /// Before sleeping or blocking: holds no pointer until online() again.
  void offline() noexcept;
  void online() noexcept;

  /// Gives up an object that this thread has unlinked. Takes no lock, except every so often to collect.
  void retire(void* object, destroy_function destroy);

  /// Destroys what may be destroyed of the objects that it retired. Returns how many. Worth calling when idle.
  std::size_t collect();

 private:
  friend class epoch_domain;
  static constexpr std::size_t batch = 64;  // retirements between two collections

  epoch_domain& domain_;
  std::atomic<std::uint64_t> announced_{offline_epoch};
  std::uint64_t last_announced_ = offline_epoch;
  std::deque<retired> retired_;
  std::size_t until_collect_ = batch;
};

}  // namespace nacre
