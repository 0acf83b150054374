// SPDX-License-Identifier: Apache-2.0
// mesh3d: meshes of tetrahedra by Delaunay refinement of subdomains that need no communication.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>
#include <program_options.hpp>

#include "meshing/first_rank.hpp"
#include "meshing/memory.hpp"
#include "meshing/output_file.hpp"
#include "options.hpp"
#include "output/report.hpp"
#include "output/writers.hpp"
#include "parallel/mesher.hpp"
#include "plan/plan.hpp"

namespace {

int mesh(nacre::runtime& rt, const mesh3d::options& asked, const nacre::config& configuration) {
  mesh3d::plan plan;
  const double started = rt.now();
  const bool is_simulated = configuration.get_string("transport") == "sim";
  const double memory_bytes = meshing::memory_of_job(rt, is_simulated);
  const std::string problem = meshing::problem_on_first_rank(rt, [&] {
    nacre::demand_writable(asked.out, "--out");
    nacre::demand_writable(asked.costs, "--costs");
    for (const std::string& file : {asked.out, asked.costs}) nacre::demand_other_file(file, asked.input);
    nacre::demand_other_file(asked.costs, asked.out);
    plan = mesh3d::make_plan(asked, memory_bytes);
  });
  const bool is_first = rt.rank().value() == 0;
  if (!problem.empty()) {
    if (is_first) std::fputs(fmt::format("mesh3d: {}\n", problem).c_str(), stderr);
    return nacre::program_options::usage_code;
  }
  const double planned = rt.now();
  mesh3d::whole_mesh whole;
  mesh3d::result done = mesh3d::make_mesh(rt, asked, std::move(plan), asked.out.empty() ? nullptr : &whole);
  if (!is_first) return 0;
  done.simulated = is_simulated;
  done.plan_seconds = planned - started;
  const double written = rt.now();
  std::exception_ptr unwritten;  // the report, and the verdict of the check, are printed all the same
  try {
    if (!asked.out.empty()) mesh3d::write_mesh(whole, asked);
    if (!asked.costs.empty()) mesh3d::write_costs(done.costs, asked.costs);
  } catch (const std::exception&) {
    unwritten = std::current_exception();
  }
  done.write_seconds = rt.now() - written;
  fmt::print("{}", asked.json ? mesh3d::result_json(asked, done, configuration.get_string("balancer"),
                                                    configuration.get_string("transport"))
                              : mesh3d::result_text(done));
  if (unwritten != nullptr) std::rethrow_exception(unwritten);
  return done.checked && done.verdict.faults > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("mesh3d", [&] {
    const nacre::config configuration = nacre::read_config(argc, argv);
    const mesh3d::command_line command = mesh3d::parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    if (!command.asked.out.empty()) mesh3d::check_output_name(command.asked.out);
    int verdict = 0;
    const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
      const int code = mesh(rt, command.asked, configuration);
      if (rt.rank().value() == 0) verdict = code;
    });
    return failed != 0 ? failed : verdict;
  });
}
