// SPDX-License-Identifier: Apache-2.0
// Options drawn from a seed, and the run.
#include "campaign/job.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/balancer.hpp>

#include "campaign/program.hpp"
#include "mobile/directory/scrambled_homes.hpp"
#include "runtime/options.hpp"

namespace campaign {
namespace {

constexpr std::uint64_t options_stream = 7;  // of the seed; the program draws from the seed itself

/// A balancer that moves whatever it sees to anywhere, running or not, and talks nonsense to its fellows.
class restless final : public nacre::balancer {
 public:
  void on_tick(nacre::balancer_host& host) override {
    const auto loads = host.local_loads();
    for (std::uint64_t moves = host.rng().below(3); moves != 0 && !loads.empty(); --moves) {
      host.migrate(loads[host.rng().below(loads.size())].object, any_rank(host));
    }
    const std::byte nonsense[3]{};
    if (host.rng().below(8) == 0) host.send(any_rank(host), nonsense);
  }
  [[nodiscard]] bool observes_loads() const override { return false; }

 private:
  static nacre::rank_id any_rank(nacre::balancer_host& host) {
    return nacre::rank_id(static_cast<std::uint32_t>(host.rng().below(host.size())));
  }
};

using settings = std::vector<std::pair<std::string, std::string>>;

settings draw_settings(std::uint64_t seed, const world& in) {
  nacre::rng draw = nacre::rng(seed).fork(options_stream);
  const auto pick = [&](std::uint64_t low, std::uint64_t high) { return low + draw.below(high - low + 1); };
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return *(words.begin() + draw.below(words.size()));
  };
  settings drawn{{"transport", "sim"}, {"ranks", text(in.ranks)}, {"seed", text(seed)}};
  const auto set = [&](const char* name, std::string value) { drawn.emplace_back(name, std::move(value)); };
  set("workers", text(pick(1, 3)));
  set("hops_max", one_of({"1", "1", "2", "8", "200"}));
  set("location",
      one_of({"lazy_forwarding", "jump_update", "path_update", "home", "broadcast_update", "subscriber_update"}));
  set("location_cache", one_of({"1", "2", "65536"}));
  set("aggregate", one_of({"on", "on", "off"}));
  set("quiescence_calm", one_of({"0us", "0us", "1us", "20us"}));
  set("aggregate_bytes", one_of({"512B", "2KiB", "8KiB"}));
  set("aggregate_bound", one_of({"1us", "20us", "1ms"}));
  set("receive_memory", one_of({"1KiB", "4KiB", "64KiB", "256MiB"}));
  set("send_memory", one_of({"1KiB", "8KiB", "64MiB"}));
  set("balancer", one_of({"none", "steal", "diffusion", "restless", "adaptive", "hierarchical", "gossip",
                          "greedy_refine", "share", "master_worker", "rotate", "random"}));
  set("balance.tick", text(pick(1, 100)) + "us");
  set("balance.steal.backoff", text(pick(1, 50)) + "us");
  set("balance.diffusion.interval", text(pick(1, 100)) + "us");
  for (const char* name : {"gossip", "greedy_refine", "rotate", "random"}) {
    drawn.emplace_back("balance." + std::string(name) + ".interval", text(pick(1, 100)) + "us");
  }
  set("sim.latency", one_of({"0ns", "100ns", "1500ns", "20us", "50us"}));
  set("sim.local_latency", one_of({"0ns", "300ns", "5us"}));
  set("sim.jitter", one_of({"0", "0.1", "2", "10"}));
  set("sim.local_jitter", one_of({"0", "0.1", "5"}));
  set("sim.ranks_per_host", text(pick(1, 4)));
  set("sim.send_overhead", one_of({"0ns", "200ns", "2us"}));
  set("sim.receive_overhead", one_of({"0ns", "200ns", "2us"}));
  set("sim.topology", one_of({"flat", "flat", "torus", "fat_tree"}));
  set("sim.late_probability", one_of({"0", "0.01", "0.2"}));
  set("sim.late_factor", one_of({"3", "20", "50"}));
  set("direct_min", one_of({"1KiB", "16KiB", "1GiB"}));
  set("scheduler", one_of({"steal", "steal", "fifo", "lifo", "shared"}));
  set("sim.cost.factor", one_of({"0", "1", "20"}));
  set("homes.scramble", draw.below(3) == 0 ? text(seed + 1) : "0");
  for (auto& [name, value] : drawn) {
    if (in.crowd != 0 && name == "balancer") value = "restless";
  }
  return drawn;
}

}  // namespace

verdict run_seed(std::uint64_t seed, std::uint32_t crowd_min) {
  const auto in = std::make_unique<world>(seed, crowd_min);
  nacre::config configuration(nacre::all_option_tables());
  for (const auto& [name, value] : draw_settings(seed, *in)) {
    configuration.set(name, value);
    if (name == "scheduler") in->newest_first = value == "lifo";
  }
  in->truth.homes = nacre::scrambled_homes::by_option(configuration, in->ranks);
  nacre::register_balancer("restless", [](const nacre::config&) { return std::make_unique<restless>(); });
  verdict result;
  result.run = nacre::run_job(configuration, [&](nacre::runtime& rt) { main_of_rank(rt, *in); });
  in->must_be_quiet("when the job had ended");
  result.violations = in->truth.violations();
  result.messages = in->truth.messages();
  return result;
}

std::string describe_seed(std::uint64_t seed, std::uint32_t crowd_min) {
  const world drawn(seed, crowd_min);
  std::string text;
  for (const auto& [name, value] : draw_settings(seed, drawn)) {
    text += (text.empty() ? "" : " ") + ("--nacre." + name) + "=" + value;
  }
  return text;
}

}  // namespace campaign
