// SPDX-License-Identifier: Apache-2.0
// The interface of a scheduler: which ready work a worker of this rank runs next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include <nacre/config.hpp>
#include <nacre/ids.hpp>
#include <nacre/work.hpp>

namespace nacre {

/// Who looks at work that waits; see scheduler::visit_waiting.
class work_visitor {
 public:
  enum class verdict : std::uint8_t {
    go_on,
    stale,  ///< this item will do nothing when it runs: the scheduler may take it out and give it to `taken_out`
    enough  ///< no more
  };
  /// An item that waits, or has just been popped. Never runs it.
  [[nodiscard]] virtual verdict look(work& item) = 0;
  /// A stale item that nobody will pop any more. Called outside all locks of the scheduler.
  virtual void taken_out(work& item) = 0;

 protected:
  ~work_visitor() = default;
};

/// Orders the ready work inside a rank (PREMA figure 2: push and pop). Work that arrives here may run at once, on any
/// worker: order and access privileges have been settled before.
/// Threads: `push` and `pop` are called at the same time by different thread contexts, each with its own id. Ids below the number
/// of workers are workers; the two above are the application thread and the poll loop, which push but never pop.
class scheduler {
 public:
  /// Why a worker should run other work first than what is oldest.
  enum class pressure : std::uint8_t {
    none,
    backlog,  ///< more waits than the rank has memory for: what came last first, so that trees of work stay narrow
    unsent    ///< more waits to be sent: first what arrives, which frees the senders; nothing that handlers make now
  };

  virtual ~scheduler() = default;
  /// `by` made `item` ready. The scheduler does not own it.
  virtual void push(worker_id by, work& item) = 0;
  /// The next item for worker `by`, or null when there is none for it now.
  [[nodiscard]] virtual work* pop(worker_id by) = 0;
  /// As push, for what a handler that runs on the worker `by` has made ready.
  virtual void push_made(worker_id by, work& item) { push(by, item); }
  /// As push_made, for an object that a handler on this rank has just made and sent its first message.
  virtual void push_first(worker_id by, work& item) { push_made(by, item); }
  /// The worker `by` is under another pressure from now on. Under pressure::unsent, pop may return null though items
  /// are there; this is called again when it ends. A scheduler may do without.
  virtual void set_pressure(worker_id /*by*/, pressure /*now*/) {}
  /// About how many items wait where `by` put them: a hint for splitting and for waking idle workers.
  [[nodiscard]] virtual std::size_t waiting(worker_id /*by*/) const { return 0; }
  /// Shows `visitor` at most `most` items that wait, without taking them: first those that another rank should get,
  /// which have waited longest (in a tree of work they are its large parts) or would run last. What a look costs grows
  /// with `most` and the thread contexts, never with how many items wait. Inside the poll loop, beside push and pop: an item may
  /// be popped at any moment, so either it is shown under a lock that pop needs, too, or it is one of which
  /// scheduler_site::stays_readable said true when it was pushed. False: this scheduler shows nothing; balancers then
  /// find what waits by looking at a few objects of the rank at a time.
  [[nodiscard]] virtual bool visit_waiting(work_visitor& /*visitor*/, std::size_t /*most*/) { return false; }
  /// Items that `by` took where others had put them. Asked by `by` itself while it runs, and by others at the end.
  [[nodiscard]] virtual std::uint64_t steals(worker_id /*by*/) const { return 0; }
  /// Which thread context the last of them was taken from, if that is known. Asked by `by` itself, for the trace.
  [[nodiscard]] virtual std::optional<worker_id> last_victim(worker_id /*by*/) const { return std::nullopt; }
};

/// The rank that a scheduler is made for.
struct scheduler_site {
  rank_id rank{};
  std::uint32_t workers = 1;
  std::uint64_t seed = 1;  ///< for its random choices
  bool simulated = false;  ///< thread contexts take turns in virtual time: what they do must not depend on this host
  /// What the program has declared of an item, the higher the more urgent: for an object what its class says by
  /// `double priority() const`, as of the end of its latest turn, infinity while it
  /// arrives; for all else 0. To be called in push, by the thread context that pushes.
  std::function<double(const work& item)> priority_of = [](const work&) { return 0.0; };
  /// How work runs that may be read for some time after it has been popped: the activations of objects.
  work::runner readable = nullptr;
  /// Whether visit_waiting may show the item though it may be popped meanwhile. To be asked in push.
  [[nodiscard]] bool stays_readable(const work& item) const noexcept { return item.runs_by(readable); }
};

using scheduler_factory = std::function<std::unique_ptr<scheduler>(const config&, const scheduler_site&)>;

/// Makes a scheduler selectable by --nacre.scheduler=NAME; `make` is called once for each rank of this process, one at
/// a time. Before nacre::run. A name that exists already, a built-in one too, means this one from now on. Any thread.
void register_scheduler(std::string_view name, scheduler_factory make);

}  // namespace nacre
