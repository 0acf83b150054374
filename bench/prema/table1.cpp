// SPDX-License-Identifier: Apache-2.0
// PREMA's table 1 (section 5.3.1) beside ours: what balancing makes of the synthetic benchmark on simulated machines of
// 320 to 5600 cores, and on threads of this host.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "figures_file.hpp"
#include "prema/parts/replay.hpp"

namespace {

using bench::figures;
using bench::heading;
using bench::heading_of_overhead;
using bench::json_of;
using bench::row;

/// A row of the paper's table, and the machine that it was measured on. Seconds.
struct machine {
  int cores, cores_a_rank;
  double least, most;                // of a core, PREMA
  double static_least, static_most;  // of a core, MPI
  double gain;                       // percent
  double overhead;                   // of a core on average
};
constexpr machine machines[] = {{320, 32, 464.8, 494.4, 324.9, 681.8, 27.4, 0.07},
                                {1280, 32, 464.9, 497.6, 324.7, 704.1, 29.3, 0.05},
                                {3200, 16, 480.7, 515.2, 322.6, 691.9, 25.5, 0.04},
                                {5600, 16, 479.2, 515.9, 310.6, 717.8, 28.1, 0.04}};

struct plan {
  std::vector<int> cores{320, 1280, 3200, 5600};
  std::vector<std::string> policies{"diffusion", "steal", "lifeline", "greedy_refine"};
  double light = 32.7;
  std::string costs{};  // a file of options for the simulated machine
  int computations = 10;
  int seed = 1;
  int runs = 3;  // of each on threads; the one of median time counts
  bool real = false;
  std::string json{};
};

constexpr std::uint32_t object_bytes = 65536;

figures run_once(const plan& plan, int cores, const std::vector<std::string>& words) {
  std::vector<std::string> all{
      fmt::format("--light={}", plan.light),     fmt::format("--computations={}", plan.computations),
      fmt::format("--seed={}", plan.seed),       fmt::format("--bytes={}", object_bytes),
      fmt::format("--nacre.seed={}", plan.seed), fmt::format("--cores={}", cores)};
  all.insert(all.end(), words.begin(), words.end());
  return bench::run_synthetic(all, !plan.real);
}

figures run(const plan& plan, int cores, const std::vector<std::string>& words) {
  std::vector<figures> all;
  for (int n = 0; n < (plan.real ? plan.runs : 1); ++n) all.push_back(run_once(plan, cores, words));
  std::sort(all.begin(), all.end(), [](const figures& a, const figures& b) { return a.seconds < b.seconds; });
  return all[all.size() / 2];
}

/// The rows of one machine: `fixed` words without a balancer, `balanced` with each.
void tell(const plan& plan, int cores, const std::vector<std::string>& fixed, const std::vector<std::string>& balanced,
          nlohmann::ordered_json& all) {
  std::vector<std::string> unbalanced = fixed;
  unbalanced.push_back("--nacre.balancer=none");
  const figures without = run(plan, cores, unbalanced);
  fmt::print("{}", row("static", without, without.seconds));
  all.push_back(json_of(cores, "none", false, without, without.seconds));
  for (const bool declared : {false, true}) {
    for (const std::string& policy : plan.policies) {
      std::vector<std::string> words = balanced;
      words.push_back("--nacre.balancer=" + policy);
      if (declared) words.insert(words.end(), {"--declare", "--nacre.scheduler=priority"});
      const figures got = run(plan, cores, words);
      fmt::print("{}", row(policy + (declared ? ", declared" : ", measured"), got, without.seconds));
      std::fflush(stdout);
      all.push_back(json_of(cores, policy, declared, got, without.seconds));
    }
  }
  fmt::print("{:26}{}\n\n", "longest first, all known", bench::column(without.bound));
}

void simulate(const plan& plan, const machine& subject, nlohmann::ordered_json& all) {
  const int ranks = subject.cores / subject.cores_a_rank;
  fmt::print("{} cores, ranks of {}, virtual seconds (ovh: seconds in the runtime, of a core)\n{}{}\n", subject.cores,
             subject.cores_a_rank, heading, heading_of_overhead);
  fmt::print("{:26}{:>9.1f}{:>9.1f}{:>9.1f}\n", "PREMA's paper, MPI", subject.static_most, subject.static_least,
             subject.static_most);
  fmt::print("{:26}{:>9.1f}{:>9.1f}{:>9.1f}{:>8.1f}{:>35.4f}\n", "PREMA's paper, diffusion", subject.most,
             subject.least, subject.most, subject.gain, subject.overhead);
  std::vector<std::string> fixed = bench::simulated_network(plan.costs), balanced = fixed;
  fixed.push_back(fmt::format("--nacre.ranks={}", subject.cores));
  const std::vector<std::string> machine = bench::balanced_machine(ranks, subject.cores_a_rank);
  balanced.insert(balanced.end(), machine.begin(), machine.end());
  tell(plan, subject.cores, fixed, balanced, all);
}

/// Ten ranks of a worker each, whose computations sleep: each stands for a core.
void measure(const plan& manner, nlohmann::ordered_json& all) {
  constexpr int cores = 10;
  fmt::print("{} cores, threads of this host that sleep for their computations, seconds (of {} runs the median)\n{}\n",
             cores, manner.runs, heading);
  plan site = manner;
  site.light = 0.1;
  const std::vector<std::string> words{fmt::format("--nacre.ranks={}", cores), "--nacre.workers=1", "--work=sleep"};
  tell(site, cores, words, words, all);
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options("prema_table1",
                                 "PREMA's synthetic benchmark of load balancing, beside the paper's table 1.");
  options.add("--cores", plan.cores, "Machines to simulate");
  options.add("--policies", plan.policies, "Balancers");
  options.add("--light", plan.light, "Seconds of a light object");
  options.add("--computations", plan.computations, "Messages that make up an object's work");
  options
      .add("--costs", plan.costs,
           "Take the costs of the simulated machine from this file, which ladder and objects write")
      .called("FILE");
  options.add("--seed", plan.seed, "Of weights and of everything else");
  options.add("--real", plan.real, "On threads of this host, not on simulated machines");
  options
      .add("--runs", plan.runs,
           "Runs of each with --real, the median counts; those of a simulated machine are all the same")
      .between(1, 100);
  options.add("--json", plan.json, "Write all figures to this file");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    if (plan.real) plan.cores.clear();
    for (const int cores : plan.cores) {
      const auto subject = std::find_if(std::begin(machines), std::end(machines),
                                        [&](const machine& each) { return each.cores == cores; });
      if (subject == std::end(machines))
        throw std::runtime_error(fmt::format("the paper has no machine of {} cores", cores));
      simulate(plan, *subject, all);
    }
    if (plan.real) measure(plan, all);
    bench::write_json(plan.json, all);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "prema_table1: {}\n", problem.what());
    return 1;
  }
}
