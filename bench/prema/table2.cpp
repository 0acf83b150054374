// SPDX-License-Identifier: Apache-2.0
// PREMA's table 2 (section 5.3.2) beside ours: subdomains whose costs mesh3d has recorded, on simulated machines of 640
// to 5600 cores.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "figures_file.hpp"
#include "jobs.hpp"
#include "prema/parts/replay.hpp"

namespace {

using bench::figures;

/// A row of the paper's table, its machine, and the mesh that stands for the paper's. Seconds.
struct machine {
  int cores, cores_a_rank;
  double least, most;                // of a core, PREMA
  double static_least, static_most;  // of a core, MPI
  double gain;                       // percent
  double overhead;                   // of a core on average
  int subdomains;                    // about as many as in the paper
  const char* size;                  // the greatest length of edges
  const char* sources;               // where the mesh is finer
};
constexpr machine machines[] = {
    {640, 32, 80.4, 197.12, 13.9, 340.7, 42.1, 0.18, 4500, "0.0208", "0.3,0.4,0.6,0.006,0.04"},
    {1280, 32, 31.12, 162.2, 2.1, 225.1, 27.9, 0.05, 4500, "0.0208", "0.7,0.2,0.5,0.004,0.04;0.2,0.8,0.3,0.008,0.1"},
    {3200, 16, 86.1, 325.2, 9.8, 764.4, 57.4, 0.65, 27000, "0.0104", "0.3,0.4,0.6,0.0025,0.02"},
    {5600, 16, 51.2, 266.8, 1.6, 489.9, 45.5, 0.48, 27000, "0.0104", "0.7,0.2,0.5,0.003,0.02;0.2,0.8,0.3,0.003,0.05"}};

struct plan {
  std::vector<int> cores{640, 1280, 3200, 5600};
  std::vector<std::string> policies{"diffusion", "greedy_refine"};
  double core_seconds = 100;
  bool measured = false;
  std::string costs{};  // a file of options for the simulated machine
  int seed = 1;
  std::string json{};
};

/// Makes the mesh, and returns the file with the cost of each subdomain.
std::string record(const plan& plan, const machine& machine) {
  const std::string name =
      (std::filesystem::temp_directory_path() / fmt::format("prema_table2.{}.{}.json", machine.cores, getpid()))
          .string();
  std::vector<std::string> command{(bench::own_folder() / "mesh3d").string(),
                                   "--json",
                                   "--weigh=volume",
                                   fmt::format("--size={}", machine.size),
                                   fmt::format("--subdomains={}", machine.subdomains),
                                   "--costs=" + name,
                                   "--nacre.balancer=none",
                                   "--nacre.workers=1"};
  if (!plan.measured) command.push_back("--nacre.transport=sim");
  const std::string all = machine.sources;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(';', begin), all.size());
    command.push_back("--size-at=" + all.substr(begin, end - begin));
    begin = end + 1;
  }
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0 || got.lines.empty()) throw std::runtime_error("mesh3d failed");
  const auto mesh = nlohmann::json::parse(got.lines.front());
  fmt::print("{} tetrahedra in {} subdomains\n", mesh.at("tetrahedra").get<std::uint64_t>(),
             mesh.at("subdomains").get<int>());
  return name;
}

figures run(const plan& plan, const machine& machine, const std::string& recorded,
            const std::vector<std::string>& words) {
  std::vector<std::string> all{"--recorded=" + recorded,
                               fmt::format("--core-seconds={}", plan.core_seconds),
                               "--computations=1",  // a subdomain is refined by one handler, as in the paper
                               fmt::format("--cores={}", machine.cores),
                               fmt::format("--seed={}", plan.seed),
                               fmt::format("--nacre.seed={}", plan.seed)};
  all.insert(all.end(), words.begin(), words.end());
  return bench::run_synthetic(all, true);
}

void simulate(const plan& plan, const machine& machine, nlohmann::ordered_json& all) {
  const std::string recorded = record(plan, machine);
  std::vector<std::string> fixed = bench::simulated_network(plan.costs), balanced = fixed;
  fixed.insert(fixed.end(), {fmt::format("--nacre.ranks={}", machine.cores), "--nacre.balancer=none"});
  const std::vector<std::string> ranks =
      bench::balanced_machine(machine.cores / machine.cores_a_rank, machine.cores_a_rank);
  balanced.insert(balanced.end(), ranks.begin(), ranks.end());
  fmt::print("{} cores, ranks of {}, virtual seconds (ovh: seconds in the runtime, of a core)\n{}{}\n", machine.cores,
             machine.cores_a_rank, bench::heading, bench::heading_of_overhead);
  fmt::print("{:26}{:>9.1f}{:>9.1f}{:>9.1f}\n", "PREMA's paper, MPI", machine.static_most, machine.static_least,
             machine.static_most);
  fmt::print("{:26}{:>9.1f}{:>9.1f}{:>9.1f}{:>8.1f}{:>35.4f}\n", "PREMA's paper, diffusion", machine.most,
             machine.least, machine.most, machine.gain, machine.overhead);
  const figures without = run(plan, machine, recorded, fixed);
  fmt::print("{}", bench::row("static", without, without.seconds));
  all.push_back(bench::json_of(machine.cores, "none", false, without, without.seconds));
  for (const bool declared : {false, true}) {
    for (const std::string& policy : plan.policies) {
      std::vector<std::string> words = balanced;
      words.push_back("--nacre.balancer=" + policy);
      if (declared) words.insert(words.end(), {"--declare", "--nacre.scheduler=priority"});
      const figures got = run(plan, machine, recorded, words);
      fmt::print("{}", bench::row(policy + (declared ? ", declared" : ", measured"), got, without.seconds));
      std::fflush(stdout);
      all.push_back(bench::json_of(machine.cores, policy, declared, got, without.seconds));
    }
  }
  fmt::print("{:26}{}{:>26.1f}\n\n", "longest first, all known", bench::column(without.bound),
             100 * (1 - without.bound / without.seconds));
  std::filesystem::remove(recorded);
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options("prema_table2", "Subdomains of mesh3d on simulated machines, beside PREMA's table 2.");
  options.add("--cores", plan.cores, "Machines to simulate");
  options.add("--policies", plan.policies, "Balancers");
  options.add("--core-seconds", plan.core_seconds, "Multiply all costs so that a core has so much on average")
      .called("SECONDS");
  options.add("--measured", plan.measured,
              "Record what subdomains take on this machine, not what they charge for points and tetrahedra");
  options
      .add("--costs", plan.costs,
           "Take the costs of the simulated machine from this file, which ladder and objects write")
      .called("FILE");
  options.add("--seed", plan.seed, "Of the simulation");
  options.add("--json", plan.json, "Write all figures to this file");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const int cores : plan.cores) {
      const auto subject = std::find_if(std::begin(machines), std::end(machines),
                                        [&](const machine& each) { return each.cores == cores; });
      if (subject == std::end(machines))
        throw std::runtime_error(fmt::format("the paper has no machine of {} cores", cores));
      simulate(plan, *subject, all);
    }
    bench::write_json(plan.json, all);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "prema_table2: {}\n", problem.what());
    return 1;
  }
}
