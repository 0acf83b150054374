// SPDX-License-Identifier: Apache-2.0
// nbody: gravity between bodies by a tree.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include <nacre/nacre.hpp>
#include <program_options.hpp>

#include "kernel_bench.hpp"
#include "options.hpp"
#include "output/job.hpp"

int main(int argc, char** argv) {
  return nacre::run_program("nbody", [&] {
    const nacre::config configuration = nacre::read_config(argc, argv);
    const nbody::command_line command = nbody::parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    if (command.asked.bench_kernel) {
      fmt::print("{}", nbody::bench_kernels());
      return 0;
    }
    const bool declares_time =
        configuration.get_string("transport") == "sim" && configuration.get_string("sim.charge") == "declared";
    int verdict = 0;
    const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
      const nbody::job_result done = nbody::run_job(rt, command.asked, declares_time);
      if (rt.rank().value() != 0) return;
      for (const std::string& each : done.unwritten) std::fputs(fmt::format("nbody: {}\n", each).c_str(), stderr);
      if (!done.unwritten.empty()) verdict = 1;
      if (done.problem.empty()) return;
      std::fputs(fmt::format("nbody: {}\n", done.problem).c_str(), stderr);
      verdict = nacre::program_options::usage_code;
    });
    return failed != 0 ? failed : verdict;
  });
}
