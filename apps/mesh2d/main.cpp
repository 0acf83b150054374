// SPDX-License-Identifier: Apache-2.0
// mesh2d: meshes of triangles by parallel constrained Delaunay refinement.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>
#include <program_options.hpp>

#include "coast/coastlines.hpp"
#include "input/poly_reader.hpp"
#include "input/poly_writer.hpp"
#include "input/shapes.hpp"
#include "meshing/first_rank.hpp"
#include "meshing/memory.hpp"
#include "options.hpp"
#include "output/report.hpp"
#include "output/writers.hpp"
#include "parallel/mesher.hpp"

namespace {

mesh2d::pslg read_input(const mesh2d::options& asked) {
  const std::string& name = asked.input;
  const bool is_file = name.size() > 5 && name.compare(name.size() - 5, 5, ".poly") == 0;
  if (mesh2d::is_coast(name)) return mesh2d::read_coast(name, asked.coast);
  return is_file ? mesh2d::read_poly(name) : mesh2d::make_shape(name, asked.seed);
}

int mesh(nacre::runtime& rt, const mesh2d::options& asked, const nacre::config& configuration) {
  mesh2d::plan plan;
  const double started = rt.now();
  const bool draws = mesh2d::is_png(asked.out), gathers = !asked.out.empty() && !draws;
  mesh2d::picture drawn;
  const bool is_simulated = configuration.get_string("transport") == "sim";
  const double memory_bytes = meshing::memory_of_job(rt, is_simulated);
  const std::string problem = meshing::problem_on_first_rank(rt, [&] {
    for (const std::string& file : mesh2d::files_of(asked.out)) nacre::demand_writable(file, "--out");
    nacre::demand_writable(asked.write_poly, "--write-poly");
    const mesh2d::pslg input = read_input(asked);
    if (!asked.write_poly.empty()) mesh2d::write_poly(input, asked.write_poly);
    plan = mesh2d::make_plan(input, asked, memory_bytes);
    if (draws) drawn = mesh2d::picture(mesh2d::frame_of(plan, asked.width));
  });
  const bool is_first = rt.rank().value() == 0;
  if (!problem.empty()) {
    if (is_first) std::fputs(fmt::format("mesh2d: {}\n", problem).c_str(), stderr);
    return nacre::program_options::usage_code;
  }
  const double planned = rt.now();
  mesh2d::whole_mesh whole;
  mesh2d::result done =
      mesh2d::make_mesh(rt, asked, std::move(plan), gathers ? &whole : nullptr, draws ? &drawn : nullptr);
  if (is_first && !done.problem.empty()) std::fputs(fmt::format("mesh2d: {}\n", done.problem).c_str(), stderr);
  if (!done.problem.empty()) return nacre::program_options::usage_code;
  if (!is_first) return 0;
  done.simulated = is_simulated;
  done.plan_seconds = planned - started;
  const double written = rt.now();
  std::exception_ptr unwritten;  // the report, and the verdict of the check, are printed all the same
  try {
    if (draws) mesh2d::write_png(drawn, asked.out);
    if (gathers) mesh2d::write_mesh(whole, asked.out);
  } catch (const std::exception&) {
    unwritten = std::current_exception();
  }
  done.write_seconds = rt.now() - written;
  fmt::print("{}", asked.json ? mesh2d::result_json(asked, done, configuration.get_string("balancer"),
                                                    configuration.get_string("transport"))
                              : mesh2d::result_text(asked, done));
  if (unwritten != nullptr) std::rethrow_exception(unwritten);
  return done.checked && done.verdict.faults > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("mesh2d", [&] {
    const nacre::config configuration = nacre::read_config(argc, argv);
    const mesh2d::command_line command = mesh2d::parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    if (!command.asked.out.empty()) mesh2d::check_output_name(command.asked.out, command.asked.input);
    if (!command.asked.write_poly.empty()) {
      mesh2d::check_poly_name(command.asked.write_poly, command.asked.input, command.asked.out);
    }
    int verdict = 0;
    const int failed = nacre::run(configuration, [&](nacre::runtime& rt) {
      const int code = mesh(rt, command.asked, configuration);
      if (rt.rank().value() == 0) verdict = code;
    });
    return failed != 0 ? failed : verdict;
  });
}
