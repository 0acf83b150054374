// SPDX-License-Identifier: Apache-2.0
// The table of balancers: built-in ones, and those of the program.
#include "balance/balancer/registry.hpp"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "balance/balancer/diffusion_balancer.hpp"
#include "balance/balancer/steal_balancer.hpp"
#include "base/nearest_name.hpp"

namespace nacre {
namespace {

constexpr option rows[] = {
    {"balancer", option_kind::text, "none", "", "",
     "who moves objects between ranks: none, steal, diffusion, or a name that the program has registered"},
    {"balance.tick", option_kind::duration, "20us", "", "1us..10s", "how often a balancer looks"},
    {"balance.steal.backoff", option_kind::duration, "20us", "", "1us..1s",
     "how long an idle rank waits after a first request in vain; the wait doubles with each further one"},
    {"balance.steal.backoff_max", option_kind::duration, "1ms", "", "1us..10s", "the longest such wait"},
    {"balance.steal.hold", option_kind::duration, "200us", "", "0us..1s",
     "how long a busy rank that has nothing to give keeps a request, so that its work can split"},
    {"balance.steal.settle", option_kind::duration, "200us", "", "0us..1s",
     "how long a rank that was promised objects waits for them before it asks again"},
    {"balance.steal.waiting_max", option_kind::integer, "4", "ranks", "1..1024",
     "requests that a rank keeps at a time; it refuses further ones"},
    {"balance.steal.objects_max", option_kind::integer, "16", "objects", "1..65536",
     "the most that one request is answered with"},
    {"balance.diffusion.neighbours", option_kind::integer, "4", "ranks", "1..64",
     "ranks whose load an underloaded rank looks at; chosen at random, and replaced when they have none"},
    {"balance.diffusion.low_load", option_kind::real, "0", "load", "0..",
     "a rank with less than this is underloaded; one with an idle worker always is"},
    {"balance.diffusion.object_load_min", option_kind::real, "0", "load", "0..", "lighter objects are not moved"},
    {"balance.diffusion.interval", option_kind::duration, "100us", "", "1us..10s",
     "the shortest time between two looks at the neighbours; it doubles with each look in vain"},
    {"balance.diffusion.interval_max", option_kind::duration, "10ms", "", "1us..100s", "the longest such time"},
    {"balance.diffusion.objects_max", option_kind::integer, "16", "objects", "1..65536",
     "the most that one request is answered with"},
};

struct built_in {
  std::string_view name;
  std::unique_ptr<balancer> (*make)(const config&);
};
constexpr built_in built_ins[] = {
    {"none", nullptr},
    {"steal", &balance::make_steal_balancer},
    {"diffusion", &balance::make_diffusion_balancer},
};

/// What the program has registered. It is known before any runtime exists, so it belongs to the process.
struct registered {
  std::mutex mutex;
  std::map<std::string, balancer_factory, std::less<>> by_name;
};

registered& of_the_program() {
  static registered table;
  return table;
}

[[noreturn]] void throw_unknown(std::string_view name, const registered& own) {
  std::vector<std::string_view> known;
  for (const built_in& each : built_ins) known.push_back(each.name);
  for (const auto& [each, make] : own.by_name) known.push_back(each);
  std::string all;
  for (const std::string_view each : known) all += (all.empty() ? "" : ", ") + std::string(each);
  const auto nearest = nearest_name(name, known);
  throw setup_error({.problem = "there is no balancer '" + std::string(name) + "'",
                     .why = "the option balancer names one of " + all,
                     .remedy = nearest ? "did you mean " + std::string(*nearest) + "?" : "choose one of them"});
}

}  // namespace

void register_balancer(std::string_view name, balancer_factory make) {
  registered& own = of_the_program();
  const std::scoped_lock lock(own.mutex);
  own.by_name.insert_or_assign(std::string(name), std::move(make));
}

std::unique_ptr<balancer> make_balancer(std::string_view name, const config& configuration) {
  registered& own = of_the_program();
  const std::scoped_lock lock(own.mutex);
  if (const auto found = own.by_name.find(name); found != own.by_name.end()) return found->second(configuration);
  for (const built_in& each : built_ins) {
    if (each.name == name) return each.make == nullptr ? nullptr : each.make(configuration);
  }
  throw_unknown(name, own);
}

std::span<const option> balance_options() noexcept { return rows; }

}  // namespace nacre
