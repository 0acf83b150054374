// SPDX-License-Identifier: Apache-2.0
// The default scheduler: three deques for each thread, and stealing, from the nearest threads first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/scheduler.hpp>

#include "balance/scheduler/thread_deques.hpp"

namespace nacre {

/// The deques of one thread under steal_scheduler.
struct three_deques : thread_queue {
  using thread_queue::thread_queue;
  [[nodiscard]] bool empty() const noexcept {
    return items.empty() && warm.size_estimate() == 0 && made.size_estimate() == 0;
  }
  [[nodiscard]] std::size_t size_estimate() const noexcept {
    return items.size_estimate() + warm.size_estimate() + made.size_estimate();
  }
  [[nodiscard]] bool visit(work_visitor& visitor, std::size_t& left) {
    return items.visit(visitor, left) && warm.visit(visitor, left) && made.visit(visitor, left);
  }
  /// The oldest of `items`, or of `warm` when there is none. Any thread.
  [[nodiscard]] work* take_oldest() noexcept {
    work* const item = items.take_oldest();
    return item == nullptr && warm.size_estimate() != 0 ? warm.take_oldest() : item;
  }
  /// The newest of `warm`, but the oldest once in a while. Owner only.
  [[nodiscard]] work* take_warm() noexcept {
    return ++warm_pops % pops_until_oldest_warm == 0 ? warm.take_oldest() : warm.take_newest();
  }

  static constexpr std::size_t pops_until_oldest_warm = 256;
  ready_deque warm{2};
  ready_deque made{2};                                  // empty in FIFO mode
  std::size_t warm_pops = 0;                            // owner only
  std::size_t just_made = 0;                            // owner only: items pushed to `made` by the item that runs
  std::vector<work*> reversed;                          // owner only: scratch of put_in_order
  std::size_t pops_until_oldest = pops_between_looks;   // owner only: to the next look at the oldest
  scheduler::pressure now = scheduler::pressure::none;  // owner only
  bool lifo_mode = false;                               // owner only
  bool all_to_made = false;  // owner only: all items of its handlers go to `made`, not only new objects
};

/// A worker takes the oldest item of its own `items`, so that messages of one rank start in the order in which they
/// arrived. If it has none it takes the oldest item of another thread: the nearest first, from a random start among
/// equally near ones.
///
/// While hundreds of items wait, the worker's caches have forgotten the oldest. Then the objects that its handlers send
/// to, and the coroutines that go on because of them, go to `warm`, of which it takes the newest first. While fewer
/// wait, the oldest are better: several messages may have come until an object has its turn.
///
/// New objects that a worker's handlers make go to a second deque, `made`, and put the worker into *LIFO mode*: it
/// takes the newest item of `made` first; items made by one and the same item keep their order. So a tree of work needs
/// memory for its depth instead of its width, and other ranks, which get the oldest items, get its large parts. Under
/// pressure all items that a worker's handlers make go to its `made`.
///
/// | worker | takes | until |
/// |---|---|---|
/// | FIFO mode | the newest of `warm`, at every n-th pop the oldest item | a handler makes an object, or pressure |
/// | LIFO mode | the newest of `made`, at every n-th pop the oldest item | no pressure, and `made` is empty |
/// | LIFO mode, pressure::unsent | the oldest item; none of `made` | that pressure ends |
///
/// Of `warm` it takes the oldest once in a while, so that objects that keep sending to each other keep nobody waiting
/// for ever. In LIFO mode nothing is added to `warm`, nor on simulated machines, which have no caches.
///
/// n bounds how long the oldest item waits, and how much collects meanwhile. The first row that applies decides; `kept`
/// is `warm` or `made`:
///
/// | n | while | reason |
/// |---|---|---|
/// | eight times the size of `made`, at least 32 | pressure::backlog | each of the oldest begins another tree on top |
/// | 2 | the others have over 32 items more than twice those in `kept` | messages to old objects do not pile up |
/// | `kept` divided by the others, in items at the last look; 32 to 1024 | else | see below |
///
/// By the last row a handler that makes hundreds of objects and then sends to itself gets that message when these have
/// begun. Every 32nd pop looks at the deques of the application thread and the poll loop, whatever n is.
class steal_scheduler final : public thread_deques<three_deques> {
 public:
  static constexpr std::uint32_t pops_until_oldest_max = 1024;
  static constexpr std::size_t warm_from = 512;  ///< items that wait

  explicit steal_scheduler(const scheduler_site& site) : thread_deques(site), has_caches_(!site.simulated) {}
  [[nodiscard]] work* pop(worker_id worker) override;
  void push_made(worker_id worker, work& item) override;
  void push_first(worker_id worker, work& item) override;
  void push_resumed(worker_id worker, work& item) override;
  void set_pressure(worker_id worker, pressure now) override;

 private:
  void push_to_made(three_deques& deques, work& item);
  void put_in_order(three_deques& deques);
  struct sizes {
    std::size_t kept, others;  ///< of the table
  };
  template <class Take>
  [[nodiscard]] work* pop_kept(worker_id worker, three_deques& deques, sizes now, Take take);
  [[nodiscard]] work* pop_lifo(worker_id worker, three_deques& deques);
  /// Takes the oldest item of another thread, or of its `made`; null only if all deques were seen empty.
  [[nodiscard]] work* steal_any(worker_id worker, three_deques& deques);

  /// Whether what a handler makes ready goes to `warm`.
  [[nodiscard]] bool takes_warm(const three_deques& deques) const noexcept;

  const bool has_caches_;
};

}  // namespace nacre
