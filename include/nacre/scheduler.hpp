// SPDX-License-Identifier: Apache-2.0
// The interface of a scheduler, which selects the ready work that a worker of this rank runs next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include <nacre/config.hpp>
#include <nacre/ids.hpp>
#include <nacre/work.hpp>

namespace nacre {

/// A visitor of waiting work; see scheduler::visit_waiting.
class work_visitor {
 public:
  /// The answer of `look`.
  enum class verdict : std::uint8_t {
    go_on,
    stale,  ///< this item has no effect when it runs: the scheduler may take it out and give it to `taken_out`
    enough  ///< show no more items
  };
  /// Looks at an item that waits, or has just been popped, without running it.
  [[nodiscard]] virtual verdict look(work& item) = 0;
  /// Gets a stale item that no worker will pop any more. Called outside all locks of the scheduler.
  virtual void taken_out(work& item) = 0;

 protected:
  ~work_visitor() = default;
};

/// Orders the ready work inside a rank (PREMA figure 2: push and pop). Pushed work may run at once, on any worker: the
/// runtime has ensured message order and access before.
/// Threads: different threads call `push` and `pop` at the same time, each with its own id. Ids below the number of
/// workers are workers; the next two are the application thread and the poll loop, which push but never pop.
class scheduler {
 public:
  /// The reason why a worker should not run the oldest work first.
  enum class pressure : std::uint8_t {
    none,
    backlog,  ///< more work waits than memory allows: run the newest first, so that trees of work stay narrow
    unsent    ///< too much waits to be sent: run arriving work first, which frees senders, and no newly made work
  };

  virtual ~scheduler() = default;
  /// `worker` made `item` ready. The scheduler does not own it. The same item may be pushed again while it waits: each
  /// push needs a pop of its own.
  virtual void push(worker_id worker, work& item) = 0;
  /// The next item for worker `worker`, or null when there is none for it now.
  [[nodiscard]] virtual work* pop(worker_id worker) = 0;
  /// As push, for an item that a handler running on the worker `worker` has made ready.
  virtual void push_made(worker_id worker, work& item) { push(worker, item); }
  /// As push_made, for an object that a handler on this rank has just made and sent its first message.
  virtual void push_first(worker_id worker, work& item) { push_made(worker, item); }
  /// As push, for a coroutine that goes on because of what an item that runs on the worker `worker` has done. It must
  /// also run under pressure::unsent.
  virtual void push_resumed(worker_id worker, work& item) { push(worker, item); }
  /// Tells that the worker `by` is under the pressure `now` from here on. Under pressure::unsent, pop may return null
  /// although items wait; this function is called again when the pressure ends. A scheduler may ignore it.
  virtual void set_pressure(worker_id /*by*/, pressure /*now*/) {}
  /// About how many items that `by` pushed still wait: a hint for splitting work and for waking idle workers.
  [[nodiscard]] virtual std::size_t waiting(worker_id /*by*/) const { return 0; }
  /// Whether new work shall run before old work, messages from other ranks included, which then run in no order. Asked
  /// once, before the first push. False: messages of one rank are taken in the order sent, whatever pop returns.
  [[nodiscard]] virtual bool newest_first() const { return false; }
  /// Shows `visitor` at most `most` waiting items, without taking them. The items that another rank should get come
  /// first: those that have waited longest (in a tree of work they are its large parts) or would run last. The cost
  /// grows with `most` and the number of threads, never with the number of waiting items. Called inside the poll loop,
  /// at the same time as push and pop. An item may be popped at any moment, so it must either be shown under a lock
  /// that pop needs too, or scheduler_site::stays_readable must have returned true for it when it was pushed. A
  /// scheduler that shows no items returns false; balancers then look at a few objects of the rank at a time.
  [[nodiscard]] virtual bool visit_waiting(work_visitor& /*visitor*/, std::size_t /*most*/) { return false; }
  /// The number of items that `by` has taken from other threads. `by` itself calls it while running, others at the end.
  [[nodiscard]] virtual std::uint64_t steals(worker_id /*by*/) const { return 0; }
  /// The thread from which `by` last took an item, if known. `by` itself calls it, for the trace.
  [[nodiscard]] virtual std::optional<worker_id> last_victim(worker_id /*by*/) const { return std::nullopt; }
};

/// The threads of a rank that push work but never pop it: the application thread and the poll loop.
inline constexpr std::uint32_t threads_beside_workers = 2;

/// The rank that a scheduler is made for.
struct scheduler_site {
  rank_id rank{};
  std::uint32_t workers = 1;
  std::uint64_t seed = 1;  ///< for its random choices
  bool simulated = false;  ///< threads alternate in virtual time: their actions must not depend on this host
  /// The number of threads that call the scheduler: the ids of all of them are below it.
  [[nodiscard]] constexpr std::uint32_t threads() const noexcept { return workers + threads_beside_workers; }
  /// Returns the priority of an item; higher is more urgent. For an object it is the value of its class's
  /// `double priority() const` at the end of the object's latest activation step, and infinity while it arrives; for
  /// all other items it is 0. To be called in push, by the thread that pushes.
  std::function<double(const work& item)> priority_of = [](const work&) { return 0.0; };
  /// The runner of items that may be read for some time after they have been popped: the activations of objects.
  work::runner readable = nullptr;
  /// Whether visit_waiting may show the item without a lock against pop. To be called in push.
  [[nodiscard]] bool stays_readable(const work& item) const noexcept { return item.runs_by(readable); }
};

using scheduler_factory = std::function<std::unique_ptr<scheduler>(const config&, const scheduler_site&)>;

/// Makes a scheduler selectable by --nacre.scheduler=NAME. To be called before nacre::run, from any thread. `make` is
/// called once for each rank of this process, one call at a time. A name that exists already, also a built-in one, is
/// replaced.
void register_scheduler(std::string_view name, scheduler_factory make);

/// Registers a scheduler likewise, with a `make` that needs the configuration only.
template <class Make>
requires(
    std::is_invocable_v<Make&, const config&> &&
    !std::is_invocable_v<Make&, const config&, const scheduler_site&>) void register_scheduler(std::string_view name,
                                                                                               Make make) {
  register_scheduler(name, scheduler_factory([make](const config& configuration, const scheduler_site&) {
                       return make(configuration);
                     }));
}

}  // namespace nacre
