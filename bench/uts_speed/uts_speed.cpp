// SPDX-License-Identifier: Apache-2.0
// How much faster is uts on two workers than its own plain loop, and what do mobile objects cost beside stealing
// between ranks by hand? All alternate; the ratios are what counts. And does it matter how many ranks and workers share
// the cores, and over which transport?
#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include "jobs.hpp"

namespace {

/// Runs a command of ours and returns the nodes per second of the JSON object that it prints. Its counts must match.
double nodes_per_second(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
  if (pclose(pipe) != 0) throw std::runtime_error("this failed: " + command);
  const auto result = nlohmann::json::parse(output);
  if (result.at("verdict") != "match") throw std::runtime_error("the counts do not match: " + command);
  return result.at("nodes_per_second").get<double>();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string range(const std::vector<double>& values) {
  return fmt::format("{:.3f} (min {:.3f}, max {:.3f})", median(values), *std::min_element(values.begin(), values.end()),
                     *std::max_element(values.begin(), values.end()));
}

/// What is asked for on the command line.
struct plan {
  std::string tree = "T1L", sha = "auto";
  int runs = 5, workers = 2;
  bool matrix = false;
  int depth = 11;
  std::vector<std::string> transports{"inproc", "shm", "tcp"};
  std::vector<int> ranks{1, 2, 3, 4, 6, 8}, workers_of_a_rank{1, 2, 3, 4};
};

std::string uts() { return bench::own_folder() / "uts"; }

/// uts on all these ranks and workers over the transport. Throws std::runtime_error when it cannot be started.
std::string command_of(const plan& plan, const std::string& transport, int ranks, int workers) {
  std::string command, options = fmt::format(" --nacre.workers={}", workers);
  if (transport == "inproc") {
    options += fmt::format(" --nacre.ranks={}", ranks);
  } else {
    const bench::launcher launcher = bench::launcher_of(transport, ranks);
    if (!launcher.missing.empty()) throw std::runtime_error(launcher.missing);
    for (const std::string& word : launcher.words) command += word + ' ';
  }
  // Of the series of T1, whose counts are published.
  return command + uts() +
         fmt::format(" --json --quiet --sha {} --type geometric --shape fixed --branching 4 --seed 19 --depth {}",
                     plan.sha, plan.depth) +
         options;
}

/// A table for each transport: how fast mobile objects are on so many ranks of so many workers each, beside one rank
/// with a worker for each core that has run right before, so that what else the machine does matters little.
void measure_matrix(const plan& plan) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::string control = command_of(plan, "inproc", 1, cores);
  fmt::print("Beside 1 rank with {} workers: medians of {} runs\n\n| transport | ranks |", cores, plan.runs);
  for (const int workers : plan.workers_of_a_rank) fmt::print(" {} worker{} |", workers, workers == 1 ? "" : "s");
  fmt::print("\n|---|---|");
  for (std::size_t i = 0; i < plan.workers_of_a_rank.size(); ++i) fmt::print("---|");
  for (const std::string& transport : plan.transports) {
    for (const int ranks : plan.ranks) {
      fmt::print("\n| {} | {} |", transport, ranks);
      for (const int workers : plan.workers_of_a_rank) {
        const std::string command = command_of(plan, transport, ranks, workers);
        std::vector<double> ratios;
        for (int run = 0; run < plan.runs; ++run) {
          const double neighbour = nodes_per_second(control);
          ratios.push_back(nodes_per_second(command) / neighbour);
        }
        fmt::print(" {:.2f} |", median(ratios));
        std::fflush(stdout);
      }
    }
  }
  fmt::print("\n");
}

void compare_modes(const plan& plan) {
  const std::string common = uts() + " --json --quiet --tree " + plan.tree + " --sha " + plan.sha;
  const std::string direct = fmt::format(" --mode steal --nacre.ranks={} --nacre.workers=1", plan.workers);
  std::vector<double> sequential, objects, stealing, to_loop, to_stealing;
  for (int run = 0; run < plan.runs; ++run) {
    sequential.push_back(nodes_per_second(common + " --sequential"));
    objects.push_back(nodes_per_second(common + " --nacre.workers=" + std::to_string(plan.workers)));
    stealing.push_back(nodes_per_second(common + direct));
    to_loop.push_back(objects.back() / sequential.back());
    to_stealing.push_back(objects.back() / stealing.back());
    fmt::print(
        "run {}: sequential {:.1f} M nodes/s, {} workers {:.1f}, {} ranks that steal {:.1f}; ratios {:.3f}, {:.3f}\n",
        run + 1, sequential.back() * 1e-6, plan.workers, objects.back() * 1e-6, plan.workers, stealing.back() * 1e-6,
        to_loop.back(), to_stealing.back());
  }
  fmt::print("median: sequential {:.1f} M nodes/s, {} workers {:.1f}, {} ranks that steal {:.1f}\n",
             median(sequential) * 1e-6, plan.workers, median(objects) * 1e-6, plan.workers, median(stealing) * 1e-6);
  fmt::print("objects to sequential: {}\nobjects to stealing:   {}\n", range(to_loop), range(to_stealing));
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "uts_speed",
      "Compares uts on several workers with uts --sequential and with as many ranks that steal, alternating; with "
      "--matrix, numbers of ranks and workers over several transports. Run it on an idle machine.");
  options.add("--tree", plan.tree, "The tree");
  options.add("--sha", plan.sha, "The SHA-1 implementation of all");
  options.add("--runs", plan.runs, "Runs of each").between(1, 100);
  options.add("--workers", plan.workers, "Workers").between(1, 4096);
  options.add("--matrix", plan.matrix, "A table of ranks and workers for each transport, instead");
  options.add("--depth", plan.depth, "Of the tree of the table; 11 has 16.5 million nodes");
  options.add("--transports", plan.transports, "Of the table");
  options.add("--ranks", plan.ranks, "Of the table");
  options.add("--workers-of-a-rank", plan.workers_of_a_rank, "Of the table");
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    plan.matrix ? measure_matrix(plan) : compare_modes(plan);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "uts_speed: {}\n", problem.what());
    return 1;
  }
  return 0;
}
