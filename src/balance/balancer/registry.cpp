// SPDX-License-Identifier: Apache-2.0
// The table of balancers: built-in ones, and ones that the program registers.
#include "balance/balancer/registry.hpp"

#include <string>
#include <utility>

#include <nacre/error.hpp>

#include "balance/balancer/adaptive_balancer.hpp"
#include "balance/balancer/diffusion_balancer.hpp"
#include "balance/balancer/gossip_balancer.hpp"
#include "balance/balancer/greedy_refine_balancer.hpp"
#include "balance/balancer/hierarchical_balancer.hpp"
#include "balance/balancer/lifeline_balancer.hpp"
#include "balance/balancer/master_worker_balancer.hpp"
#include "balance/balancer/share_balancer.hpp"
#include "balance/balancer/steal_balancer.hpp"
#include "balance/policy_table.hpp"
#include "balance/testing/rotate_balancer.hpp"

namespace nacre {
namespace {

constexpr option rows[] = {
    {"balancer", option_kind::text, "adaptive", "", "",
     "who moves objects between ranks: none, adaptive, steal, lifeline, hierarchical, diffusion, gossip, "
     "greedy_refine, share, "
     "master_worker, rotate, random, or a name that the program has registered"},
    {"balance.tick", option_kind::duration, "20us", "", "1us..10s", "how often a balancer looks"},
    {"balance.time_share", option_kind::real, "0.01", "", "0.0001..1",
     "which part of a busy rank's time its balancer may take, whatever it does; moving objects does not count"},
    {"balance.load", option_kind::text, "declared", "", "",
     "what an object counts for: declared, what its class says by load(), else as measured; measured, the time that "
     "its waiting messages will take, judged by earlier ones; messages, "
     "how many wait; or a name that the program has registered"},
    {"balance.traffic_half_life", option_kind::duration, "100ms", "", "1us..1000s",
     "after so long what an object has sent to another one counts half, for balancers that go by that"},
    {"balance.steal.backoff", option_kind::duration, "20us", "", "1us..1s",
     "how long an idle rank waits after a first request in vain; the wait doubles with each further one"},
    {"balance.steal.backoff_max", option_kind::duration, "1ms", "", "1us..10s", "the longest such wait"},
    {"balance.steal.hold", option_kind::duration, "200us", "", "0us..1s",
     "how long a busy rank that has nothing to give keeps a request, so that its work can split"},
    {"balance.steal.arrival_timeout", option_kind::duration, "200us", "", "0us..1s",
     "how long a rank that was promised objects waits for them before it asks again"},
    {"balance.steal.waiting_max", option_kind::integer, "4", "ranks", "1..1024",
     "requests that a rank keeps at a time; it refuses further ones"},
    {"balance.steal.objects_max", option_kind::integer, "16", "objects", "1..65536",
     "the most that one request is answered with"},
    {"balance.adaptive.interval", option_kind::duration, "1ms", "", "1us..10s",
     "the shortest time between two plans for objects that step; it doubles with each that moves nothing"},
    {"balance.adaptive.interval_max", option_kind::duration, "20ms", "", "1us..100s", "the longest such time"},
    {"balance.adaptive.tolerance", option_kind::real, "0.05", "", "0..10",
     "by which part of the average a rank may be above it"},
    {"balance.adaptive.objects_max", option_kind::integer, "256", "objects", "1..65536",
     "how many of its objects a rank reports, the heaviest; at most 16384 / ranks, or 8 where that is less. All else "
     "is "
     "as balance.lifeline says"},
    {"balance.diffusion.neighbours", option_kind::integer, "4", "ranks", "1..64",
     "ranks whose load an underloaded rank looks at; chosen at random, and replaced when they have none"},
    {"balance.diffusion.low_load", option_kind::real, "0", "load", "0..",
     "a rank with less than this is underloaded; one with more idle workers than waiting objects always is"},
    {"balance.diffusion.object_load_min", option_kind::real, "0", "load", "0..", "lighter objects are not moved"},
    {"balance.diffusion.interval", option_kind::duration, "100us", "", "1us..10s",
     "the shortest time between two looks at the neighbours; it doubles with each look in vain"},
    {"balance.diffusion.interval_max", option_kind::duration, "10ms", "", "1us..100s", "the longest such time"},
    {"balance.diffusion.objects_max", option_kind::integer, "16", "objects", "1..65536",
     "the most that one request is answered with; of a large bag more, up to 128"},
    {"balance.lifeline.attempts", option_kind::integer, "10", "ranks", "0..1024",
     "random ranks that a request of an idle rank goes to, one after the other, before the rank waits at its "
     "neighbours"},
    {"balance.lifeline.objects_max", option_kind::integer, "128", "objects", "1..65536",
     "the most that one rank gets at a time"},
    {"balance.lifeline.arrival_timeout", option_kind::duration, "200us", "", "0us..1s",
     "how long a rank that was promised objects waits for them before it asks again"},
    {"balance.hierarchical.group", option_kind::integer, "0", "ranks", "0..1000000",
     "consecutive ranks that are near each other; 0: those of a host. All else is as balance.steal says"},
    {"balance.hierarchical.inside", option_kind::integer, "2", "requests", "0..1024",
     "requests in a row that go to near ranks before one goes to a far one"},
    {"balance.gossip.fanout", option_kind::integer, "2", "ranks", "1..64",
     "how many random ranks a rank passes on to what it has heard"},
    {"balance.gossip.rounds", option_kind::integer, "4", "", "0..32", "how often news of a rank is passed on"},
    {"balance.gossip.interval", option_kind::duration, "100us", "", "1us..10s",
     "the shortest time between two messages; between two of an idle rank about itself it doubles each time"},
    {"balance.gossip.interval_max", option_kind::duration, "10ms", "", "1us..100s", "the longest such time"},
    {"balance.gossip.known_max", option_kind::integer, "64", "ranks", "1..65536",
     "how many underloaded ranks a rank remembers"},
    {"balance.gossip.objects_max", option_kind::integer, "16", "objects", "1..65536",
     "the most that a rank gives away at a time; of a large bag more, up to 128"},
    {"balance.gossip.communication", option_kind::boolean, "false", "", "",
     "whether messages between objects are counted, and of objects that are about as heavy that one is given to a rank "
     "which talks most to objects there"},
    {"balance.greedy_refine.interval", option_kind::duration, "1ms", "", "1us..10s",
     "the shortest time between two global looks at the load; it doubles with each in vain"},
    {"balance.greedy_refine.interval_max", option_kind::duration, "20ms", "", "1us..100s", "the longest such time"},
    {"balance.greedy_refine.tolerance", option_kind::real, "0.05", "", "0..10",
     "by which part of the average a rank may be above it"},
    {"balance.greedy_refine.objects_max", option_kind::integer, "256", "objects", "1..2048",
     "how many of its objects a rank reports, the heaviest of a sample of those that wait or declare a load"},
    {"balance.greedy_refine.communication", option_kind::boolean, "false", "", "",
     "whether messages between objects are counted, and of objects that are about as heavy those move that talk to "
     "objects where they go"},
    {"balance.share.manager", option_kind::integer, "0", "rank", "0..1000000",
     "who knows what there is to give; a number beyond the last rank means that one"},
    {"balance.share.chunk", option_kind::integer, "1", "objects", "1..65536",
     "how many are given at a time; of a large bag more, up to 128"},
    {"balance.share.interval", option_kind::duration, "100us", "", "0us..1s",
     "the shortest time between two offers of a rank"},
    {"balance.share.arrival_timeout", option_kind::duration, "200us", "", "0us..1s",
     "how long a rank that was promised objects waits for them before it asks again"},
    {"balance.master_worker.master", option_kind::integer, "0", "rank", "0..1000000",
     "who gives objects to the others; a number beyond the last rank means that one"},
    {"balance.master_worker.low_load", option_kind::real, "0", "load", "0..",
     "a rank with less than this asks for more; one with too few objects for its idle workers always does"},
    {"balance.master_worker.objects_max", option_kind::integer, "1", "objects", "1..65536",
     "the most that one request is answered with; of a large bag more, up to 128"},
    {"balance.master_worker.arrival_timeout", option_kind::duration, "200us", "", "0us..1s",
     "how long a rank that was promised objects waits for them before it asks again"},
    {"balance.rotate.interval", option_kind::duration, "1ms", "", "1us..10s",
     "how often a rank sends what waits there on to the next rank"},
    {"balance.random.interval", option_kind::duration, "1ms", "", "1us..10s",
     "how often a rank sends what waits there to random ranks"},
};

using table = balance::policy_table<balancer>;

constexpr table::built_in built_ins[] = {
    {"none", nullptr},
    {"adaptive", &balance::make_adaptive_balancer},
    {"steal", &balance::make_steal_balancer},
    {"lifeline", &balance::make_lifeline_balancer},
    {"hierarchical", &balance::make_hierarchical_balancer},
    {"diffusion", &balance::make_diffusion_balancer},
    {"gossip", &balance::make_gossip_balancer},
    {"greedy_refine", &balance::make_greedy_refine_balancer},
    {"share", &balance::make_share_balancer},
    {"master_worker", &balance::make_master_worker_balancer},
    {"rotate", &balance::make_rotate_balancer},
    {"random", &balance::make_random_balancer},
};

table& all_balancers() {
  static table known("balancer", built_ins);
  return known;
}

}  // namespace

void register_balancer(std::string_view name, balancer_factory make) { all_balancers().add(name, std::move(make)); }

std::unique_ptr<balancer> make_balancer(std::string_view name, const config& configuration) {
  std::unique_ptr<balancer> result = all_balancers().make(name, configuration);
  if (result == nullptr && all_balancers().has_own(name)) {
    throw setup_error(
        {.problem = "the balancer '" + std::string(name) + "' is null",
         .why = "no rank would balance, and nothing would say so",
         .remedy = "let the function given to register_balancer return one, or choose --nacre.balancer=none"});
  }
  return result;
}

bool is_registered_balancer(std::string_view balancer) { return all_balancers().has_own(balancer); }

std::span<const option> balance_options() noexcept { return rows; }

}  // namespace nacre
