// SPDX-License-Identifier: Apache-2.0
// Declares the options and turns their values into a machine and a program.
#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nacre/error.hpp>
#include <program_options.hpp>

namespace emulate {
namespace {

constexpr const char* footer = R"(Examples:
  emulate --program octree --grid 34x34x36 --threads 200 --hop 5ns --turn 75ns --handler 1us
  emulate --program ring --grid 34x34x36 --threads 200 --hop 5ns --turn 75ns --handler 1us --rounds 4
  emulate --program phold --grid 100x100x100 --turn 100ns --mean 1us --remote 0.5 --until 20us
  emulate --program jacobi --grid 20x20x20 --cells 8 --steps 100
  emulate --program md --grid 20x20x20 --topology torus --steps 1000
  emulate --program line --grid 34x34x36 --threads 200 --json - --nacre.ranks=2

Exit code: 0, 1 when a program's own check fails or a rank fails, 2 when the options are wrong.)";

/// The options of the machine as given.
struct given_machine {
  std::string file, grid, hop, turn, handler, injection;
  std::optional<std::uint32_t> threads, communication_threads;
  std::optional<double> measured, bandwidth;
  bool contention = false;
  std::string turns, topology, missing;
};
/// The times among the parameters of programs, as given.
struct given_times {
  std::string mean = "1us", until = "100us", work = "50ns";
};

std::string is_time(const std::string& text) { return parse_time(text) ? "" : "a time such as 5ns, 1us, 0.5ms or 2s"; }
std::string is_grid(const std::string& text) { return parse_grid(text) ? "" : "a grid such as 34x34x36"; }

void declare_machine(nacre::program_options& parser, given_machine& given) {
  parser.section("The machine: a file, or the paper's, changed by what else is given");
  parser.add("--machine", given.file, "A machine file (machines/*.toml)").called("FILE");
  parser.add("--grid", given.grid, "Extents of the grid of nodes (default 34x34x36)").called("XxYxZ").must_be(is_grid);
  parser.add("--threads", given.threads, "Threads of a node (default 200)").called("COUNT").between(1, 60'000);
  parser
      .add("--communication-threads", given.communication_threads,
           "How many of them run messages of the category communication (default 0: all)")
      .called("COUNT")
      .between(0, 59'999);
  parser.add("--hop", given.hop, "A packet's time from node to node (default 5ns)").called("TIME").must_be(is_time);
  parser.add("--turn", given.turn, "A packet's time to turn (default 75ns)").called("TIME").must_be(is_time);
  parser.add("--handler", given.handler, "Cost of each handler (default 1us; phold: 0ns)")
      .called("TIME")
      .must_be(is_time);
  parser
      .add("--measured", given.measured,
           "Also charge the processor time of handlers on this host, times this (default 0: do not measure)")
      .called("FACTOR")
      .between(0, 1e6);
  parser.add("--turns", given.turns, "Turns that a packet pays: once (default), or as counted on its way")
      .called("RULE")
      .one_of({"once", "counted"});
  parser.add("--injection", given.injection, "Time for which a packet occupies its node's port (default 0ns)")
      .called("TIME")
      .must_be(is_time);
  parser.add("--bandwidth", given.bandwidth, "Bytes a second of a link (default 0: no limit)")
      .called("BYTES")
      .between(0, 1e18);
  parser.add("--contention", given.contention,
             "Each link carries one packet at a time, for its length over the bandwidth");
  parser
      .add("--missing", given.missing,
           "Nodes that do not exist: places such as 1,2,3:4,5,6, or a share of all such as 1%, drawn by a number such "
           "as "
           "in 1%@7; packets and programs go around them")
      .called("NODES");
  parser.add("--topology", given.topology, "How nodes are wired (default mesh)")
      .called("NAME")
      .one_of({"mesh", "torus", "fat_tree", "dragonfly"});
}

void declare_programs(nacre::program_options& parser, program_parameters& parameters, given_times& times) {
  parser.section("Parameters of programs");
  parser.add("--rounds", parameters.rounds, "ring: how often each message goes on").called("COUNT");
  parser.add("--population", parameters.population, "phold: events of each node at the start").called("COUNT");
  parser.add("--remote", parameters.remote, "phold: share of events for another node").between(0, 1);
  parser.add("--mean", times.mean, "phold: mean time to the next event, beside the lookahead")
      .called("TIME")
      .must_be(is_time);
  parser.add("--until", times.until, "phold: events from then on cause no others").called("TIME").must_be(is_time);
  parser.add("--seed", parameters.seed, "phold: another seed, another run").called("COUNT");
  parser.add("--cells", parameters.cells, "jacobi: cells along each side of a node's cube")
      .called("COUNT")
      .between(1, 128);
  parser.add("--steps", parameters.steps, "jacobi: sweeps; md: time steps").called("COUNT").between(1, 1'000'000);
  parser
      .add("--pieces", parameters.pieces,
           "md: handlers in which a node computes the forces on its atoms beside each other (default 8; as many as its "
           "worker threads at most)")
      .called("COUNT")
      .between(1, 60'000);
  parser.add("--work", times.work, "jacobi: cost of a cell's update; md: cost of a pair of atoms")
      .called("TIME")
      .must_be(is_time);
}

void declare_run(nacre::program_options& parser, options& asked) {
  parser.section("How to run");
  parser.add("--blocks", asked.blocks, "Blocks of nodes over all ranks (0: four for each worker)").called("COUNT");
  parser.add_choice("--order", asked.order,
                    {{"exact", nacre::emulated_order::exact}, {"arrival", nacre::emulated_order::arrival}},
                    "exact: by virtual time, the same in every run; arrival: blocks run what comes as it comes, as the "
                    "original emulator did");
  parser.add_choice("--moves", asked.moves,
                    {{"worthwhile", nacre::emulated_moves::worthwhile}, {"always", nacre::emulated_moves::always}},
                    "worthwhile: a balancer may move a block that has worked long enough since it has come to make up "
                    "for the move; always: between any two windows, as a test");
  parser.add("--critical-path", asked.critical_path,
             "At the end, show the chain of handlers that took the whole time; records 48 bytes for each handler");
  parser
      .add("--profile", asked.profile_path,
           "Write how busy each node was when, packets by hops, and the critical path: `nacre report FILE` draws it")
      .called("FILE");
  parser
      .add("--against", asked.against,
           "Run a variant afterwards, which differs by these options, and compare: --against 'hop=1ns contention'")
      .called("OPTIONS");
  parser.add("--json", asked.json_path, "Write the result as one JSON object to FILE, - for standard output")
      .called("FILE");
  parser.add("--quiet", asked.quiet, "No progress line (there is one only on a terminal)");
}

void demand_three_files(const options& asked, const std::string& machine) {
  const std::string json = asked.json_path == "-" ? "" : asked.json_path;
  nacre::demand_other_file(json, asked.profile_path);
  nacre::demand_other_file(json, machine);
  nacre::demand_other_file(asked.profile_path, machine);
}

nacre::emulated_machine machine_from(const given_machine& given, bool phold) {
  using namespace std::chrono_literals;
  nacre::emulated_machine m{.grid = {34, 34, 36}, .threads = 200, .hop = 5ns, .turn = 75ns, .handler = 1us};
  if (phold) m.handler = 0ns;
  if (!given.file.empty()) m = nacre::emulated_machine::from_file(given.file);
  if (!given.grid.empty()) m.grid = *parse_grid(given.grid);
  if (given.threads) m.threads = *given.threads;
  if (given.communication_threads) m.communication_threads = *given.communication_threads;
  if (!given.hop.empty()) m.hop = *parse_time(given.hop);
  if (!given.turn.empty()) m.turn = *parse_time(given.turn);
  if (!given.handler.empty()) m.handler = *parse_time(given.handler);
  if (!given.injection.empty()) m.injection = *parse_time(given.injection);
  if (given.measured) m.measured = *given.measured;
  if (given.bandwidth) m.bandwidth = *given.bandwidth;
  m.contention = m.contention || given.contention;
  if (!given.turns.empty()) m.turns = given.turns == "once" ? nacre::turn_rule::once : nacre::turn_rule::counted;
  if (given.topology == "mesh") m.topology = nacre::emulated_topology::mesh;
  if (given.topology == "torus") m.topology = nacre::emulated_topology::torus;
  if (given.topology == "fat_tree") m.topology = nacre::emulated_topology::fat_tree;
  if (given.topology == "dragonfly") m.topology = nacre::emulated_topology::dragonfly;
  if (!given.missing.empty()) m.missing = nacre::parse_missing_nodes(given.missing, m.grid);
  nacre::check_machine(m);
  return m;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_time(const std::string& text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  constexpr std::array<std::pair<std::string_view, double>, 4> units{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  for (const auto& [unit, factor] : units) {
    if (error != std::errc() || std::string_view(end, last) != unit) continue;
    const double ns = std::round(number * factor);
    if (!(ns >= 0 && ns <= 1e18) || std::fabs(ns - number * factor) > 1e-6) return std::nullopt;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
  }
  return std::nullopt;
}

std::optional<nacre::coordinates> parse_grid(const std::string& text) {
  std::array<std::int32_t, 3> extents{1, 1, 1};
  const char* position = text.data();
  const char* const last = position + text.size();
  for (std::int32_t& extent : extents) {
    const auto [end, error] = std::from_chars(position, last, extent);
    if (error != std::errc() || extent < 1) return std::nullopt;
    if (end == last) return nacre::coordinates{extents[0], extents[1], extents[2]};
    if (*end != 'x') return std::nullopt;
    position = end + 1;
  }
  return std::nullopt;
}

namespace {

bool is_name(const std::string& word) { return word.size() > 2 && word.starts_with("--"); }

/// A command line in which those of `change`, such as "hop=1ns contention", replace options or are added.
std::vector<std::string> changed_words(int argc, const char* const* argv, const std::string& change) {
  std::vector<std::string> changes;
  std::istringstream words(change);
  for (std::string word; words >> word;) changes.push_back(word.starts_with("--") ? word : "--" + word);
  for (const std::string& each : changes) {
    if (each.substr(0, each.find('=')) != "--json") continue;
    throw nacre::setup_error({"--against names " + each, "one file has the results of both runs",
                              "write --json beside --against, and not in it"});
  }
  const auto replaced = [&](const std::string& word) {
    const std::string name = word.substr(0, word.find('='));
    return name == "--against" || std::any_of(changes.begin(), changes.end(), [&](const std::string& other) {
             return other.substr(0, other.find('=')) == name;
           });
  };
  std::vector<std::string> all;
  bool drops_value = false;
  for (int k = 0; k < argc; ++k) {
    const std::string word = argv[k];
    if (is_name(word)) drops_value = replaced(word);
    if (!drops_value) all.push_back(word);
  }
  all.insert(all.end(), changes.begin(), changes.end());
  return all;
}

/// The variant reads the file of the first run again.
void refuse_pipe(const std::string& path) {
  std::error_code none;
  const std::filesystem::file_type kind = std::filesystem::status(path, none).type();
  if (kind != std::filesystem::file_type::fifo && kind != std::filesystem::file_type::character) return;
  throw nacre::setup_error({"--machine " + path + " is a pipe or a device", "--against reads the machine twice",
                            "write the machine into a file, and name that"});
}

command_line parse_one(int argc, const char* const* argv) {
  nacre::program_options parser("emulate",
                                "Runs a program on an emulated machine of very many threads, in virtual time.");
  parser.footer(footer);
  command_line result;
  given_machine given;
  given_times times;
  std::string name;
  std::vector<std::string> names;
  for (const program& one : programs()) names.emplace_back(one.name);
  std::string description = "The program: ";
  for (const program& one : programs()) {
    description += fmt::format("{}{} ({})", &one == programs().data() ? "" : "; ", one.name, one.description);
  }
  parser.add("--program", name, description).called("NAME").one_of(names).required();
  declare_machine(parser, given);
  declare_programs(parser, result.asked.parameters, times);
  declare_run(parser, result.asked);
  result.exit_code = parser.parse(argc, argv);
  if (result.exit_code) return result;
  for (const program& one : programs()) {
    if (one.name == name) result.asked.runs = &one;
  }
  result.asked.parameters.mean = *parse_time(times.mean);
  result.asked.parameters.until = *parse_time(times.until);
  result.asked.parameters.work = *parse_time(times.work);
  demand_three_files(result.asked, given.file);
  if (!result.asked.against.empty()) refuse_pipe(given.file);
  result.asked.machine = machine_from(given, name == "phold");
  return result;
}

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
  command_line result = parse_one(argc, argv);
  if (result.exit_code || result.asked.against.empty()) return result;
  const std::vector<std::string> words = changed_words(argc, argv, result.asked.against);
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  command_line variant = parse_one(static_cast<int>(pointers.size()), pointers.data());
  result.exit_code = variant.exit_code;
  if (variant.asked.profile_path == result.asked.profile_path) variant.asked.profile_path.clear();  // of the first run
  result.asked.variant = std::make_shared<options>(std::move(variant.asked));
  return result;
}

}  // namespace emulate
