// SPDX-License-Identifier: Apache-2.0
// uts: counts the nodes of unbalanced trees.
#include <fmt/format.h>

#include <optional>

#include <nacre/nacre.hpp>

#include "mobile.hpp"
#include "options.hpp"
#include "presets.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "sequential.hpp"

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

int run_with_mobile_objects(const uts::options& asked, const nacre::config& configuration) {
  static_cast<void>(uts::select_sha1(asked.sha));  // refuses what this processor cannot, before anything starts
  int verdict = 0;
  const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
    const auto result = uts::search_with_mobile_objects(rt, {asked.tree, asked.sha, progress_of(asked)});
    if (rt.rank().value() == 0) verdict = report(asked, result);
  });
  return failed != 0 ? failed : verdict;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    nacre::config configuration = nacre::read_config(argc, argv);
    // The whole tree begins on rank 0, so without a balancer the other ranks would have nothing to do.
    configuration.set("balancer", "steal", nacre::setting_source::program);
    const uts::command_line command = uts::parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    if (command.asked.list) {
      fmt::print("{}", uts::preset_list());
      return 0;
    }
    if (command.asked.sequential && !configuration.get_bool("help")) return run_sequentially(command.asked);
    return run_with_mobile_objects(command.asked, configuration);
  } catch (const nacre::setup_error& error) {
    fmt::print(stderr, "uts: {}\n", error.what());
    return 2;
  }
}
