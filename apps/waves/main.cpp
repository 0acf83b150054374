// SPDX-License-Identifier: Apache-2.0
// waves: elastic waves in three dimensions, on patches that are mobile objects (PREMA 5.3.3).
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nacre/nacre.hpp>
#include <program_options.hpp>

#include "output/results.hpp"
#include "parallel/simulation.hpp"
#include "setup/options.hpp"

namespace {

using namespace waves;

using problem_list = std::vector<std::shared_ptr<const problem>>;

problem_list problems_of(const options& asked) {
  problem_list problems;
  const row_kernels& kernels = chosen_kernels(asked);
  for (const description& each : descriptions(asked)) {
    problems.push_back(std::make_shared<problem>(make_problem(each, kernels)));
  }
  return problems;
}

/// Tells how far the computation is, at most every two seconds.
class progress_line {
 public:
  void operator()(int step, int steps, double seconds) {
    if (seconds - last_ < 2 && step != steps) return;
    last_ = step == steps ? 0 : seconds;
    fmt::print(stderr, "step {} of {}, {:.0f} s left\n", step, steps, seconds / step * (steps - step));
  }

 private:
  double last_ = 0;
};

/// Writes snapshots. A run goes on without one that cannot be written, so that nothing else is lost with it.
class snapshot_writer {
 public:
  explicit snapshot_writer(const options& asked) : asked_(asked) {}
  void write(int number, const plane_points& points) {
    try {
      write_snapshot(asked_, number, points);
    } catch (const std::runtime_error&) {
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }
  /// Throws the first error.
  void finish() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  const options& asked_;
  std::exception_ptr first_;
};

observers observers_of(const options& asked, const problem& last, snapshot_writer& snapshots) {
  observers watching;
  if (!asked.quiet) watching.on_progress = progress_line();
  const plane_choice plane = plane_of(asked);
  watching.plane_axis = plane.axis;
  watching.plane_at = plane.metres;
  if (asked.every > 0) watching.snapshots.interval = std::max(1.0, asked.every / last.grid.dt);
  if (!asked.snapshots.empty()) {
    watching.on_snapshot = [&snapshots](int number, const plane_points& points) { snapshots.write(number, points); };
  }
  return watching;
}

report report_of(const options& asked, const problem_list& problems, const outcome& outcome,
                 const std::optional<seismogram>& known) {
  const problem& last = *problems.back();
  report result;
  result.name = last.name;
  for (const auto& each : problems) result.spacings.push_back(each->grid.h);
  result.errors = outcome.errors;
  result.slope = slope_of(outcome.errors);
  result.energy_drift = outcome.energy_drift;
  result.points_per_second = outcome.points_per_second;
  result.seconds = outcome.seconds;
  result.bytes_per_point = outcome.bytes_per_point;
  result.wave_points = points_per_wave(last);
  result.points = last.grid.points();
  result.steps = last.steps;
  result.digest = outcome.digest;
  if (known) compare(asked, last, outcome.motions, *known, result);
  return result;
}

/// Whether patches of equal size take equal times, as far as the materials say.
bool has_even_work(const model& material) {
  return material.blocks.empty() && material.points.materials.empty() && material.kind == variation::none;
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("waves", [&] {
    nacre::config configuration = nacre::read_config(argc, argv);
    const command_line command = parse_command_line(argc, argv);
    if (command.exit_code) return *command.exit_code;
    const options& asked = command.asked;
    check_outputs(asked);
    // Files are read once: what a run tells at its end is about what it began with.
    const problem_list problems = problems_of(asked);
    const problem& last = *problems.back();
    const std::optional<reference> reference = reference_for(asked, last);
    check_observations(asked, last);
    // A patch that moves to a rank which waits for halos costs more than its next steps: it is large.
    if (has_even_work(last.material) && !configuration.was_set("balancer")) configuration.set("balancer", "none");
    const run_options run_options{asked.patches, asked.chunk, configuration.get_string("transport") == "sim"};
    return nacre::run(configuration, [&](nacre::runtime& rt) {
      if (rt.rank() == nacre::rank_id{0} && !asked.quiet) {
        for (const std::string& line : warnings_of(last)) std::fputs(fmt::format("waves: {}\n", line).c_str(), stderr);
      }
      snapshot_writer snapshots(asked);
      const observers watching = observers_of(asked, last, snapshots);
      const outcome outcome = simulate(rt, problems, run_options, watching);
      if (rt.rank() != nacre::rank_id{0}) return;
      const std::optional<seismogram> known = known_motion(asked, last, reference);
      const report result = report_of(asked, problems, outcome, known);
      fmt::print("{}", report_text(result));
      write_all({[&] { snapshots.finish(); },
                 [&] {
                   if (!asked.json.empty()) write_file(asked.json, report_json(result));
                 },
                 [&] { write_seismograms(asked, last, outcome.motions, known); },
                 [&] { write_animation(asked, watching.snapshots.number_at(last.steps)); }});
    });
  });
}
