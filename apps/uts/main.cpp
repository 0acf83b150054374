// SPDX-License-Identifier: Apache-2.0
// uts: counts the nodes of unbalanced trees.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <nacre/nacre.hpp>
#include <program_options.hpp>

#include "mobile.hpp"
#include "options.hpp"
#include "presets.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "sequential.hpp"
#include "share.hpp"
#include "steal.hpp"

namespace {

int report(const uts::options& asked, const uts::search_result& result) {
  fmt::print("{}", asked.json ? uts::result_json(result) : uts::result_text(result));
  return uts::judge(result) == uts::verdict::mismatch ? 1 : 0;
}

uts::progress_mode progress_of(const uts::options& asked) {
  return asked.quiet ? uts::progress_mode::silent : uts::progress_mode::on_terminal;
}

int run_sequentially(const uts::options& asked) {
  const auto known = uts::find_known_size(asked.tree);
  const auto nodes_total = known ? std::optional(known->nodes) : std::nullopt;
  uts::progress_line progress(progress_of(asked), nodes_total);
  return report(asked, uts::search_sequentially(asked.tree, uts::select_sha1(asked.sha), progress));
}

/// Seconds of a node for each of its hashes, where time is simulated.
double cost_of_node(const uts::options& asked, bool simulated) {
  if (!simulated || !asked.cost.measured) return asked.cost.seconds;
  return uts::measured_seconds_a_node(asked.tree, uts::select_sha1(asked.sha));
}

/// The host of a rank, as a number that the ranks of a host have in common.
std::uint64_t host_of(nacre::rank_id rank, const nacre::config& configuration) {
  if (configuration.get_string("transport") == "sim") {
    return rank.value() / static_cast<std::uint64_t>(configuration.get_int("sim.ranks_per_host"));
  }
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return std::hash<std::string_view>()(name.data());
}

uts::search_result search_on_all_ranks(nacre::runtime& rt, const uts::options& asked, double node_seconds,
                                       bool simulated, std::uint64_t host) {
  const uts::rank_search_options options{asked.tree,
                                         asked.sha,
                                         asked.chunk,
                                         asked.interval,
                                         !simulated,
                                         {.node = node_seconds},
                                         {.requests = asked.near, .host = host}};
  if (asked.mode == uts::search_mode::steal) return uts::search_by_stealing(rt, options);
  if (asked.mode == uts::search_mode::share) return uts::search_by_sharing(rt, options);
  const auto restored = rt.restored<uts::search_progress>();
  return uts::search_with_mobile_objects(rt, {asked.tree, asked.sha, progress_of(asked), node_seconds}, restored);
}

int run_in_parallel(const uts::options& asked, const nacre::config& configuration) {
  static_cast<void>(uts::select_sha1(asked.sha));  // refuses what this processor cannot, before anything starts
  const bool simulated = configuration.get_string("transport") == "sim";
  const double node_seconds = cost_of_node(asked, simulated);
  int verdict = 0;
  const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
    const auto result = search_on_all_ranks(rt, asked, node_seconds, simulated, host_of(rt.rank(), configuration));
    if (rt.rank().value() == 0) verdict = report(asked, result);
  });
  return failed != 0 ? failed : verdict;
}

/// Defaults of this program.
void set_defaults(const uts::options& asked, nacre::config& configuration) {
  constexpr auto program = nacre::setting_source::program;
  const bool objects = asked.mode == uts::search_mode::objects;
  // With objects the program has a line of its own, which knows the size of the tree.
  if (objects || asked.quiet) configuration.set("progress_line", "0s", program);
  if (objects) return;
  configuration.set("balancer", "none", program);  // these searches share their work themselves
  // A rank has one search, so a core has one rank.
  configuration.set("workers", "1", program);
  if (configuration.get_string("transport") != "inproc") return;
  configuration.set("ranks", std::to_string(std::max(1u, std::thread::hardware_concurrency())), program);
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("uts", [&] {
    nacre::config configuration = nacre::read_config(argc, argv);
    const uts::command_line command = uts::parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    if (command.asked.list) {
      fmt::print("{}", uts::preset_list());
      return 0;
    }
    set_defaults(command.asked, configuration);
    if (command.asked.sequential && !configuration.get_bool("help")) return run_sequentially(command.asked);
    return run_in_parallel(command.asked, configuration);
  });
}
