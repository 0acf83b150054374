// SPDX-License-Identifier: Apache-2.0
// The interface of a load balancer between ranks, and the registration of a program's own balancer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <nacre/config.hpp>
#include <nacre/ids.hpp>
#include <nacre/rng.hpp>

namespace nacre {

/// The load of one object on the balancer's rank: an estimate of a moment ago.
struct object_load {
  object_id object;
  double load = 0;             ///< from the load model, in its unit; see load_model
  std::uint32_t messages = 0;  ///< that wait to be run, without the one that a worker runs now
  double migration_cost = 0;   ///< seconds: the least that this rank spends on moving an object of its size, both as
                               ///< far as known; and what its class says that a move costs besides
  bool running = false;        ///< a handler runs on it now; the object can leave only afterwards
  double seconds = 0;          ///< that its waiting messages will take, if it has been measured
};

/// The load of the balancer's rank, without looking at any object: an estimate of a moment ago.
struct rank_load {
  std::size_t waiting = 0;    ///< pieces of work that wait for a worker: objects with messages, and all else that runs
  std::uint32_t running = 0;  ///< workers that are busy
};

/// Which objects a balancer looks for.
enum class candidate_kind : std::uint8_t {
  waiting,  ///< with messages that wait for a worker
  any       ///< those, and those that declare a load though nothing waits for them
};

/// The work of a rank's objects in a window of time; see work_observer.
struct work_window {
  double length = 0;        ///< seconds since the window began
  double active = 0;        ///< seconds between the ends of the first and the last step in the window
  double seconds = 0;       ///< that handlers of objects have taken, `charge` included
  std::size_t objects = 0;  ///< that have worked; one that has worked on two workers may count twice
  std::uint64_t steps = 0;  ///< that were measured: each long one, and of short ones every eleventh
};

/// How often objects have run in a window, by a sample of some hundred objects.
struct lasting_work {
  std::size_t objects = 0;  ///< of the sample that are still here or have ended
  double steps = 0;         ///< steps of the whole sample divided by `objects`: those of objects that left count, too
};

/// The work in a window of those objects that are still here.
struct worked_objects {
  double seconds = 0;                      ///< of all of them
  std::size_t objects = 0;                 ///< how many they are, up to some thousands
  std::span<const object_load> movable{};  ///< the heaviest that could leave; their load is the seconds of the window
};

/// Shows the work of a rank's objects in windows of time. Valid during the call that the host is an argument of.
class work_observer {
 public:
  /// Begins a window: forgets what objects have done. `counts_traffic`: whether balancer_host::traffic is counted from
  /// now on, too; what earlier such windows counted counts an eighth in this one.
  virtual void begin_window(bool counts_traffic) = 0;
  /// The window so far. The cost grows with the number of workers.
  [[nodiscard]] virtual work_window window() = 0;
  [[nodiscard]] virtual lasting_work lasting() = 0;
  /// Returns what objects that are still here have done in the window, of which at most the `most` heaviest are named.
  /// The cost grows with the number of objects that have worked; some thousands are looked at singly. The span is valid
  /// until the next such call.
  [[nodiscard]] virtual worked_objects worked(std::size_t most) = 0;

 protected:
  ~work_observer() = default;
};

/// The recent traffic from one object to another: never more than was really sent. See balancer_host::traffic.
struct object_traffic {
  object_id partner;
  rank_id where;        ///< the partner's rank, as far as this rank knows; at worst its home
  double messages = 0;  ///< halved at the end of each --nacre.balance.traffic_half_life
  double bytes = 0;     ///< as packed for another rank; halved likewise
};

/// The estimates from which a load model makes the load of an object.
struct load_facts {
  double declared = 0;         ///< the result of its class's load(), in any one unit; 0 without
  double message_seconds = 0;  ///< seconds that one of its waiting messages takes on average, as their handlers took on
                               ///< objects of its rank, and as this object's took longer or shorter than those; for an
                               ///< object that has run none yet, as for the others that wait, or 1 us
  std::uint32_t messages = 0;  ///< that wait to be run
};

/// Computes the load of an object; chosen by --nacre.balance.load. Each rank has one model. Its method is called inside
/// the poll loop.
class load_model {
 public:
  virtual ~load_model() = default;
  /// Returns a load of at least 0, in the unit of all loads. For an object that neither runs nor has messages it is
  /// called only if the object declares a load.
  [[nodiscard]] virtual double load(const load_facts& load_facts) const = 0;
};

using load_model_factory = std::function<std::unique_ptr<load_model>(const config&)>;

/// Makes a load model selectable by --nacre.balance.load=NAME. Calls, names and threads are as for register_balancer.
void register_load_model(std::string_view name, load_model_factory make);

/// The services of a rank for its balancer. Valid during the call that it is an argument of.
class balancer_host {
 public:
  [[nodiscard]] virtual rank_id rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// Ranks of the job on this host, as far as known. Launchers number the ranks of a host one after the other.
  [[nodiscard]] virtual std::uint32_t ranks_on_host() const noexcept { return size(); }
  /// How much work waits and runs here. The cost grows with the number of workers, not with the number of objects.
  [[nodiscard]] virtual rank_load summary() = 0;
  /// Returns at most `most` objects that could leave now: the heaviest of a sample of the work that waits here. The
  /// heaviest comes first; of equal ones, the one that has waited longest. Objects that run, refuse to move or are
  /// about to leave are left out; while the program has disabled balancing there are none. The cost grows with `most`,
  /// which counts up to 1024, not with the number of objects. The span is valid until the next call of the host other
  /// than migrate.
  [[nodiscard]] virtual std::span<const object_load> candidates(std::size_t most,
                                                                candidate_kind kind = candidate_kind::waiting) = 0;
  /// The load of one object; nothing if it is not here, refuses to move or is about to leave.
  [[nodiscard]] virtual std::optional<object_load> load_of(object_id object) = 0;
  /// Returns the objects here that run, have messages waiting or declare a load, in the order of their ids. Objects
  /// that refuse to move or are about to leave are left out; while the program has disabled balancing there are none.
  /// Each call looks at all objects that the rank knows, up to some thousands; where there are more, each call looks at
  /// the next few thousand. A busy rank looks again only when --nacre.balance.time_share allows it. Until then it
  /// returns the result of the last look, without the objects that it has sent away. The span is valid until the next
  /// call of the host other than migrate.
  [[nodiscard]] virtual std::span<const object_load> local_loads() = 0;
  /// Sets the time, in seconds, that a message is assumed to take on an object here of which no message has been
  /// measured. By default, and after 0, the times of the other objects of this rank are used. A balancer that compares
  /// loads of several ranks sets one value on all of them; else an object would count for more on one rank than on
  /// another.
  virtual void assume_message_seconds(double /*seconds*/) {}
  /// The sum of the loads of all objects here, of those that refuse to move, too. Where local_loads() sees all of them
  /// it is their sum, at the cost of local_loads(); where there are more objects it is an estimate from a sample.
  [[nodiscard]] virtual double total_load() = 0;
  /// Returns the objects that the object `of` of this rank has sent most messages to lately: at most 8, in the order of
  /// their ids; none unless observes_communication() of the balancer is true, or a window counts it. Messages
  /// that its handlers send to single objects by send and call count; results and messages to itself do not. A count
  /// falls short of the true one by at most a ninth of all messages that the object has sent lately. The counts follow
  /// the object when it moves. The span is valid until the next call of the host.
  [[nodiscard]] virtual std::span<const object_traffic> traffic(object_id /*of*/) { return {}; }
  /// What objects have done lately; null unless observes_work() of the balancer is true.
  [[nodiscard]] virtual work_observer* observed() { return nullptr; }
  [[nodiscard]] virtual std::uint32_t workers() const = 0;
  /// Workers that look for work and find none.
  [[nodiscard]] virtual std::uint32_t idle_workers() const = 0;
  /// Objects that have come from other ranks since the job's start.
  [[nodiscard]] virtual std::uint64_t arrivals() const { return 0; }
  /// Sends bytes of any length to the balancer of another rank, in order. Uncounted: quiescence does not wait for them.
  /// The bytes may change when it returns.
  virtual void send(rank_id target, std::span<const std::byte> bytes) = 0;
  /// Requests that an object moves: it leaves with its waiting messages before it runs again. An object that is not
  /// here any more stays where it is.
  virtual void migrate(object_id object, rank_id target) = 0;
  /// Requests the same unless the object turns out to be too large for the work that waits for it. A rank knows the
  /// packed size of an object only when it is about to leave; a large one that stays tells its migration_cost from then
  /// on. False: the object stays. True: it has left, or will try when the handler that runs on it has ended.
  virtual bool migrate_if_worth(object_id object, rank_id target) {
    migrate(object, target);
    return true;
  }
  /// The balancer's own stream of random numbers.
  [[nodiscard]] virtual nacre::rng& rng() = 0;
  /// Seconds since the job's start; virtual ones under simulation.
  [[nodiscard]] virtual double now() const = 0;

 protected:
  ~balancer_host() = default;
};

/// Decides which objects leave a rank (PREMA figure 2, without the part that schedules inside a rank; see scheduler).
/// Each rank has one. Its methods are called one at a time, inside the poll loop, so they must be short and never
/// block. On a busy rank they get at most --nacre.balance.time_share of the time, without the time inside host.migrate:
/// if they take longer, ticks become rarer and messages to the balancer wait.
class balancer {
 public:
  virtual ~balancer() = default;
  /// An object's load has changed since the last tick, as far as local_loads() shows it. One that was shown and is not
  /// any more has load 0, while local_loads() returns all objects of the rank.
  virtual void on_load(const object_load& /*changed*/) {}
  /// Called often, also while balancing is disabled: the place to look, ask and decide.
  virtual void on_tick(balancer_host& /*host*/) {}
  /// Bytes from the balancer of another rank, valid during the call. They are untrusted input: decode them with care
  /// and ignore invalid ones.
  virtual void on_message(balancer_host& /*host*/, rank_id /*from*/, std::span<const std::byte> /*bytes*/) {}
  /// Returns true while other ranks wait for work from here: handlers see it as wanted_elsewhere().
  [[nodiscard]] virtual bool wanted() const { return false; }
  /// Returns true while only a message of another balancer, or work that comes to this rank, will make this balancer
  /// act: the ticks of a rank without work are then a second apart. Asked after each call.
  [[nodiscard]] virtual bool rests() const { return false; }
  /// Returns whether on_load is wanted; it costs as much as local_loads() at every tick.
  [[nodiscard]] virtual bool observes_loads() const { return true; }
  /// Returns whether balancer_host::observed is wanted; it costs a lock for each step that is measured. Asked
  /// once, before any handler runs.
  [[nodiscard]] virtual bool observes_work() const { return false; }
  /// Returns whether balancer_host::traffic is wanted; it costs a look-up and a lock for each message of an object to
  /// another. Asked once, before any handler runs.
  [[nodiscard]] virtual bool observes_communication() const { return false; }
};

using balancer_factory = std::function<std::unique_ptr<balancer>(const config&)>;

/// Makes a balancer selectable by --nacre.balancer=NAME. To be called before nacre::run, from any thread. `make` is
/// called once for each rank of this process, one call at a time. A name that exists already, also a built-in one, is
/// replaced.
void register_balancer(std::string_view name, balancer_factory make);

}  // namespace nacre
