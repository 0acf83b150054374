// SPDX-License-Identifier: Apache-2.0
// The interface of a load balancer between ranks, and how a program brings its own.
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

/// What a balancer knows of one object on its rank; an estimate of a moment ago.
struct object_load {
  object_id object;
  double load = 0;             ///< as the load model says, see load_model
  std::uint32_t messages = 0;  ///< that wait to be run, not counting the one that a worker runs now
  double migration_cost = 0;   ///< seconds that this rank spends on moving an object at least, as far as known
  bool running = false;        ///< a handler runs on it now: it could leave only afterwards
  double seconds = 0;          ///< that its waiting messages will take, if it has been measured
};

/// What a balancer knows of its rank without looking at any object; an estimate of a moment ago.
struct rank_load {
  std::size_t waiting = 0;    ///< pieces of work that wait for a worker: objects with messages, and all else that runs
  std::uint32_t running = 0;  ///< workers that are busy
};

/// Which objects a balancer looks for.
enum class candidate_kind : std::uint8_t {
  waiting,  ///< with messages that wait for a worker
  any       ///< those, and those that declare a load though nothing waits for them
};

/// What an object has sent another one lately: at most what it has really sent. See balancer_host::traffic.
struct object_traffic {
  object_id partner;
  rank_id where;        ///< the partner is, as far as this rank knows; at worst its home
  double messages = 0;  ///< halved at the end of each --nacre.balance.traffic_half_life
  double bytes = 0;     ///< as they travel to another rank, likewise
};

/// What is known of an object from which its load is made; estimates.
struct load_facts {
  double declared = 0;         ///< what its class says by load(), in any one unit; 0 without
  double message_seconds = 0;  ///< what one of its messages takes, as earlier ones did; of an object that has run none
                               ///< yet, what one of other objects on its rank takes, or 1 us
  std::uint32_t messages = 0;  ///< that wait to be run
};

/// What an object counts for, chosen by --nacre.balance.load. A rank has one. Its method is called inside the poll
/// loop.
class load_model {
 public:
  virtual ~load_model() = default;
  /// At least 0, in the unit of all loads; an object that neither runs nor has messages is asked about if it declares
  /// any load.
  [[nodiscard]] virtual double load(const load_facts& of) const = 0;
};

using load_model_factory = std::function<std::unique_ptr<load_model>(const config&)>;

/// Makes a load model selectable by --nacre.balance.load=NAME; all else as register_balancer.
void register_load_model(std::string_view name, load_model_factory make);

/// What a rank offers its balancer. Valid during the call that hands it over.
class balancer_host {
 public:
  [[nodiscard]] virtual rank_id rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// Ranks of the job on this host, as far as known. Launchers number those of a host one after the other.
  [[nodiscard]] virtual std::uint32_t ranks_on_host() const noexcept { return size(); }
  /// How much waits and runs here. Costs as much as the rank has workers, however many objects there are.
  [[nodiscard]] virtual rank_load summary() = 0;
  /// At most `most` objects that could leave now, heaviest first, of those that are equal the one that has waited
  /// longest: the heaviest of a sample of what waits here. It costs as much as `most`, however many objects there are;
  /// `most` counts up to 1024. None that runs, refuses to move or is about to leave, and none while the program has
  /// disabled balancing. The span is valid until the next call of the host other than migrate.
  [[nodiscard]] virtual std::span<const object_load> candidates(std::size_t most,
                                                                candidate_kind of = candidate_kind::waiting) = 0;
  /// What is known of one object; nothing if it is not here, refuses to move or is about to leave.
  [[nodiscard]] virtual std::optional<object_load> load_of(object_id object) = 0;
  /// Objects here that run, have messages waiting or declare a load, in the order of their ids; none that is about to
  /// leave, and none while the program has disabled balancing. It looks at every object that the rank knows, up to some
  /// thousands; where there are more, at the next few thousand with each call. A rank that is busy looks again only
  /// when --nacre.balance.time_share allows, and tells what it saw before until then, without what it has sent away.
  /// The span is valid until the next call of the host other than migrate.
  [[nodiscard]] virtual std::span<const object_load> local_loads() = 0;
  /// From now on an object here of which no message has been measured is taken for one whose messages take so long
  /// each, instead of for the others of this rank. Who compares loads of several ranks tells all of them the same, else
  /// an object would count for more on one rank than on another. 0: for the others of this rank again.
  virtual void assume_message_seconds(double /*seconds*/) {}
  /// The sum of the loads of all objects here: over local_loads(), at the same price, while these are all; of more, an
  /// estimate by a sample of them.
  [[nodiscard]] virtual double total_load() = 0;
  /// The objects that an object of this rank has sent most messages to lately, at most 8, in the order of their ids;
  /// none unless the balancer observes_communication. Counted are messages of its handlers to single objects, by send
  /// and call, without results and without what it sends to itself. What is told falls short of what was sent by at
  /// most a ninth of all messages that the object has sent lately, and follows the object when it moves. The span is
  /// valid until the next call of the host.
  [[nodiscard]] virtual std::span<const object_traffic> traffic(object_id /*of*/) { return {}; }
  [[nodiscard]] virtual std::uint32_t workers() const = 0;
  /// Workers that look for work and find none.
  [[nodiscard]] virtual std::uint32_t idle_workers() const = 0;
  /// Objects that have come from other ranks since the job's start.
  [[nodiscard]] virtual std::uint64_t arrivals() const { return 0; }
  /// Sends to the balancer of another rank, in order, at any length. Uncounted: quiescence does not wait for it.
  virtual void send(rank_id to, std::span<const std::byte> bytes) = 0;
  /// A wish: the object leaves with its waiting messages before it runs again, unless it is not here any more.
  virtual void migrate(object_id object, rank_id to) = 0;
  /// The balancer's own stream.
  [[nodiscard]] virtual nacre::rng& rng() = 0;
  /// Seconds since the job's start; virtual ones under simulation.
  [[nodiscard]] virtual double now() const = 0;

 protected:
  ~balancer_host() = default;
};

/// Decides which objects leave a rank (PREMA figure 2, without the part that schedules inside a rank, see scheduler).
/// One for each rank; its methods are called one at a time, inside the poll loop, so they are short and never block.
/// However long they take, on a busy rank they take no more than --nacre.balance.time_share of the time: ticks become
/// rarer, and messages wait. What host.migrate takes does not count.
class balancer {
 public:
  virtual ~balancer() = default;
  /// An object's load has changed since the last tick, as far as local_loads() tells.
  virtual void on_load(const object_load& /*changed*/) {}
  /// Called often, also while balancing is disabled: look, ask, decide.
  virtual void on_tick(balancer_host& /*host*/) {}
  /// Bytes from the balancer of another rank. They are input: decode with care, ignore what makes no sense.
  virtual void on_message(balancer_host& /*host*/, rank_id /*from*/, std::span<const std::byte> /*bytes*/) {}
  /// True while other ranks wait for work from here: handlers see it as wanted_elsewhere().
  [[nodiscard]] virtual bool wanted() const { return false; }
  /// True while nothing but a message of another balancer, or work that comes to this rank, will make it do anything:
  /// the ticks of a rank without work are then a second apart. Looked at after each call.
  [[nodiscard]] virtual bool rests() const { return false; }
  /// Whether on_load is wanted; it costs what local_loads() does at every tick.
  [[nodiscard]] virtual bool observes_loads() const { return true; }
  /// Whether balancer_host::traffic is wanted; it costs a look-up and a lock for each message of an object to another.
  /// Asked once, before anything runs.
  [[nodiscard]] virtual bool observes_communication() const { return false; }
};

using balancer_factory = std::function<std::unique_ptr<balancer>(const config&)>;

/// Makes a balancer selectable by --nacre.balancer=NAME; `make` is called once for each rank of this process, one at a
/// time. Before nacre::run. A name that exists already, a built-in one too, means this one from now on. Any thread.
void register_balancer(std::string_view name, balancer_factory make);

}  // namespace nacre
