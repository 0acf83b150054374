// SPDX-License-Identifier: Apache-2.0
// How much faster is uts on two workers than its own plain loop? Both alternate; the ratio is what counts.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

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

}  // namespace

int main(int argc, char** argv) {
  std::string tree = "T1L", sha = "auto";
  int runs = 5, workers = 2;
  CLI::App app("Compares uts on several workers with uts --sequential, alternating. Run it on an idle machine.");
  app.add_option("--tree", tree, "The tree")->capture_default_str();
  app.add_option("--sha", sha, "The SHA-1 implementation of both")->capture_default_str();
  app.add_option("--runs", runs, "Runs of each")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--workers", workers, "Workers")->check(CLI::Range(1, 4096))->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto uts = (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "uts").string();
  const std::string common = uts + " --json --quiet --tree " + tree + " --sha " + sha;
  std::vector<double> sequential, parallel, ratios;
  for (int run = 0; run < runs; ++run) {
    sequential.push_back(nodes_per_second(common + " --sequential"));
    parallel.push_back(nodes_per_second(common + " --nacre.workers=" + std::to_string(workers)));
    ratios.push_back(parallel.back() / sequential.back());
    fmt::print("run {}: sequential {:.1f} M nodes/s, {} workers {:.1f} M nodes/s, ratio {:.3f}\n", run + 1,
               sequential.back() * 1e-6, workers, parallel.back() * 1e-6, ratios.back());
  }
  fmt::print("median: sequential {:.1f}, {} workers {:.1f} M nodes/s; ratio {:.3f} (min {:.3f}, max {:.3f})\n",
             median(sequential) * 1e-6, workers, median(parallel) * 1e-6, median(ratios),
             *std::min_element(ratios.begin(), ratios.end()), *std::max_element(ratios.begin(), ratios.end()));
}
