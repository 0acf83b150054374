// SPDX-License-Identifier: Apache-2.0
// emulate: runs a program on a machine of millions of threads, in virtual time.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <nacre/nacre.hpp>
#include <program_options.hpp>

#include "options.hpp"
#include "report.hpp"

namespace {

/// Returns to the line's start and erases it (ECMA-48).
constexpr const char* erase_line = "\r\x1b[K";

void show_progress(const nacre::emulation_progress& emulation_progress) {
  const double rate =
      emulation_progress.seconds > 0 ? static_cast<double>(emulation_progress.events) / emulation_progress.seconds : 0;
  const std::string line =
      fmt::format("{}{:.3f} us of virtual time, {} handlers, {:.3g} a second", erase_line,
                  static_cast<double>(emulation_progress.time.count()) / 1e3, emulation_progress.events, rate);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

/// The variant is null where there is none.
void write_result(const emulate::report& report, const emulate::report* variant) {
  const std::string& path = report.asked->json_path;
  if (path != "-") fmt::print("{}", emulate::text_of(report));
  if (path != "-" && variant != nullptr) {
    fmt::print("\n{}{}", emulate::text_of(*variant), emulate::comparison_of(report, *variant));
  }
  if (path.empty()) return;
  const std::string json = variant != nullptr ? emulate::json_of(report, *variant) : emulate::json_of(report);
  if (path == "-") {
    fmt::print("{}", json);
    return;
  }
  std::ofstream file(path);
  file << json;
  file.close();
  if (!file) {
    throw nacre::setup_error(
        {"the result could not be written to " + path, "the file would be incomplete", "check the path and the space"});
  }
}

/// Rank 0 writes the result. Empty, or why it could not: all ranks get the same.
std::string problem_with_output(nacre::runtime& rt, const std::string& path) {
  std::string problem;
  try {
    if (rt.rank().value() == 0 && path != "-") nacre::demand_writable(path, "--json");
  } catch (const nacre::setup_error& error) {
    problem = error.what();
  }
  return rt.broadcast(problem, nacre::rank_id{0});
}

emulate::program_result run_one(nacre::runtime& rt, const emulate::options& asked, bool line) {
  nacre::emulation_options options{.blocks = asked.blocks,
                                   .critical_path = asked.critical_path,
                                   .profile = asked.profile_path,
                                   .title = std::string(asked.runs->name),
                                   .order = asked.order,
                                   .moves = asked.moves};
  if (line) options.progress = show_progress;
  return asked.runs->run(rt, asked.machine, asked.parameters, options);
}

int run(const emulate::options& asked, nacre::config configuration) {
  configuration.set("progress_line", "0s", nacre::setting_source::program);  // the program has a line of its own
  const bool line = !asked.quiet && nacre::progress_is_seen();
  int verdict = 0;
  const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
    if (const std::string problem = problem_with_output(rt, asked.json_path); !problem.empty()) {
      if (rt.rank().value() != 0) return;
      std::fputs(fmt::format("emulate: {}\n", problem).c_str(), stderr);
      verdict = nacre::program_options::usage_code;
      return;
    }
    const emulate::program_result result = run_one(rt, asked, line);
    std::optional<emulate::program_result> other;
    if (asked.variant) other = run_one(rt, *asked.variant, line);
    const std::uint32_t workers = rt.all_reduce(rt.workers(), std::plus<>{});
    if (rt.rank().value() != 0) return;
    if (line) std::fputs(erase_line, stderr);
    const emulate::report first{&asked, result, workers};
    if (!other) {
      write_result(first, nullptr);
    } else {
      const emulate::report variant{asked.variant.get(), *other, workers};
      write_result(first, &variant);
    }
    if (!result.error.empty() || (other && !other->error.empty())) verdict = 1;
  });
  return failed != 0 ? failed : verdict;
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("emulate", [&] {
    nacre::config configuration = nacre::read_config(argc, argv);
    const emulate::command_line command = emulate::parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    return run(command.asked, std::move(configuration));
  });
}
