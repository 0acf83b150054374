// SPDX-License-Identifier: Apache-2.0
// Clam's experiment (section 4.2, figure 7): a pipe in subdomains of equal area whose triangles differ in size, with
// and without balancers, on simulated ranks and on ranks of this host.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "clam_mesh/parts/breakdown.hpp"
#include "figures_file.hpp"
#include "jobs.hpp"

namespace {

using clam_mesh::breakdown;

constexpr double spread_of_paper = 7.4;

struct plan {
  std::vector<std::string> balancers{"none", "diffusion", "greedy_refine", "lifeline"};
  std::vector<int> ranks{};
  double triangles = 35e6;
  double spread = 0;
  int subdomains = 512;
  bool real = false, no_check = false;
  std::string transport = "shm";
  int workers = 1;
  int runs = 1;
  int seed = 1;
  double least = 0;
  std::string json{}, svg{};
};

/// How many triangles a ring of radii 0.5 and 1 takes whose edges are 1 long at (1, 0) and grow by `growth`, up to a
/// factor.
double triangles_of_ring(double growth) {
  constexpr int steps = 200;
  double sum = 0;
  for (int k = 0; k < steps; ++k) {
    const double radius = 0.5 + 0.5 * (k + 0.5) / steps;
    for (int j = 0; j < steps; ++j) {
      const double angle = std::numbers::pi * (j + 0.5) / steps;
      const double distance = std::hypot(radius * std::cos(angle) - 1, radius * std::sin(angle));
      sum += radius / std::pow(1 + growth * distance, 2);
    }
  }
  return sum;
}

/// Lengths of edges at one end of the pipe's cut, and how they grow up to the other end.
std::string size_field(double triangles, double spread) {
  const auto growth_of = [](double value) {
    return (std::sqrt(value) - 1) / 2;
  };                                                     // for each unit of a cut that is 2 wide
  constexpr double length = 0.000257, result = 35.08e6;  // of edges, and triangles, with the paper's spread
  const double fewer = triangles_of_ring(growth_of(spread)) / triangles_of_ring(growth_of(spread_of_paper));
  const double source = length * std::sqrt(fewer * result / triangles);
  return fmt::format("1,0,{:.6g},{:.6g}", source, source * growth_of(spread));
}

breakdown run(const plan& plan, int ranks, const std::string& balancer, int number, bool check = false) {
  std::vector<std::string> words{
      "--size-at=" + size_field(plan.triangles, plan.spread), "--weigh=area",
      fmt::format("--subdomains={}", plan.subdomains),        "--nacre.balancer=" + balancer,
      fmt::format("--nacre.workers={}", plan.workers),        fmt::format("--nacre.seed={}", plan.seed + number)};
  if (check) words.push_back("--check");
  if (plan.real) {
    const bench::launcher launcher = bench::launcher_of(plan.transport, ranks);
    if (!launcher.missing.empty()) throw std::runtime_error(launcher.missing);
    return clam_mesh::run_mesh2d(launcher.words, words);
  }
  words.insert(words.end(), {"--nacre.transport=sim", fmt::format("--nacre.ranks={}", ranks)});
  return clam_mesh::run_mesh2d({}, words);
}

/// The run of median length.
breakdown median_of(const plan& plan, int ranks, const std::string& balancer) {
  std::vector<breakdown> all;
  for (int number = 0; number < plan.runs; ++number) all.push_back(run(plan, ranks, balancer, number));
  std::sort(all.begin(), all.end(), [](const breakdown& a, const breakdown& b) { return a.seconds < b.seconds; });
  breakdown result = std::move(all[all.size() / 2]);
  if (!plan.no_check) result.checked = run(plan, ranks, balancer, 0, true).checked;
  return result;
}

void print_row(const std::string& name, const breakdown& breakdown, double without) {
  fmt::print("{:16}{:>12}{:>10.4g}{:>10.4g}{:>10.4g}{:>12.2f}{:>8}{:>10.1f}\n", name, breakdown.triangles,
             breakdown.seconds, breakdown.busiest(), breakdown.ideal(), 100 * breakdown.overhead(), breakdown.moves,
             100 * (1 - breakdown.seconds / without));
  std::fflush(stdout);
}

/// False: a balancer gains less than was asked for.
bool compare(const plan& plan, int ranks, nlohmann::ordered_json& json, std::vector<std::string>& names,
             std::vector<breakdown>& runs) {
  fmt::print("{} {} ranks, {} subdomains{}\n{:16}{:>12}{:>10}{:>10}{:>10}{:>12}{:>8}{:>10}\n", ranks,
             plan.real ? "real" : "simulated", plan.subdomains, plan.no_check ? "" : ", all meshes checked", "balancer",
             "triangles", "seconds", "busiest", "ideal", "overhead %", "moves", "cut by %");
  double without = 0;
  bool enough = true;
  for (const std::string& balancer : plan.balancers) {
    const breakdown got = median_of(plan, ranks, balancer);
    if (without == 0) without = got.seconds;
    print_row(balancer, got, without);
    auto row = clam_mesh::json_of(got);
    row["balancer"] = balancer;
    row["real"] = plan.real;
    row["cut_by"] = 1 - got.seconds / without;
    json.push_back(std::move(row));
    if (balancer != plan.balancers.front() && 1 - got.seconds / without < plan.least) enough = false;
    names.push_back(balancer);
    runs.push_back(got);
  }
  return enough;
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "clam_mesh", "Clam's experiment: a pipe of subdomains that differ in cost, without and with balancers.");
  options.add("--balancers", plan.balancers, "The first is what the others are compared with")
      .one_of({"none", "steal", "lifeline", "hierarchical", "diffusion", "gossip", "greedy_refine", "share",
               "master_worker", "rotate", "random"});
  options.add("--ranks", plan.ranks, "Ranks of each comparison").between(1, 4096).otherwise("32, or 2 real ones");
  options.add("--triangles", plan.triangles, "About so many in all").between(1e4, 1e9);
  options
      .add("--spread", plan.spread,
           "By what factor the bounds of areas differ over the pipe; 30: one of 2 ranks has 0.8 of the work")
      .between(1, 1e6)
      .otherwise("7.4, as in the paper, or 30 with real ranks");
  options.add("--subdomains", plan.subdomains, "Of equal area").between(1, 65536);
  options.add("--real", plan.real, "On ranks of this host, not on simulated ones");
  options.add("--transport", plan.transport, "Of real ranks").one_of({"shm", "tcp", "udp", "auto"});
  options.add("--workers", plan.workers, "Of each rank").between(1, 1024);
  options.add("--runs", plan.runs, "Of each balancer; the median counts").between(1, 1000);
  options.add("--no-check", plan.no_check, "Do not verify the meshes, which takes one more run of each balancer");
  options.add("--seed", plan.seed, "Of the first run");
  options.add("--least", plan.least, "Exit with 1 if a balancer behind the first cuts the time by less").between(0, 1);
  options.add("--json", plan.json, "Write all figures to this file").called("FILE");
  options.add("--svg", plan.svg, "Draw the time of each rank into this file").called("FILE");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  if (plan.ranks.empty()) plan.ranks = {plan.real ? 2 : 32};
  if (plan.spread == 0) plan.spread = plan.real ? 30 : spread_of_paper;
  try {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    std::vector<std::string> names;
    std::vector<breakdown> runs;
    bool enough = true;
    for (const int ranks : plan.ranks) enough = compare(plan, ranks, json, names, runs) && enough;
    bench::write_json(plan.json, json);
    if (!plan.svg.empty()) bench::write_file(plan.svg, clam_mesh::drawn(names, runs));
    return enough ? 0 : 1;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "clam_mesh: {}\n", problem.what());
    return 1;
  }
}
