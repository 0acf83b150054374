// SPDX-License-Identifier: Apache-2.0
// The steps of main: chunks of time steps, between which results are looked at and images can be taken.
#include "parallel/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "parallel/gather.hpp"

namespace waves {
namespace {

/// One problem after the other, on all ranks; what only rank 0 does says so.
class simulation {
 public:
  simulation(nacre::runtime& rt, const run_options& asked, const observers& watching)
      : rt_(rt), asked_(asked), watching_(watching), worlds_(rt.create_group<world>()) {}

  outcome run(const std::vector<std::shared_ptr<const problem>>& problems) {
    // The group above is made before, by every start anew: it has addresses inside.
    kept_ = rt_.restored<progress>().value_or(progress{});
    if (const auto image_level = static_cast<std::size_t>(kept_.level); image_level >= problems.size()) {
      throw nacre::setup_error(
          {fmt::format("the image is of grid {} of a problem, and this job has {}", image_level + 1, problems.size()),
           "it cannot go on", "take the options of the image, or leave out --nacre.restore"});
    }
    for (auto level = static_cast<std::size_t>(kept_.level); level < problems.size(); ++level) {
      begin_level(problems[level]);
      while (kept_.step < problems[level]->steps) run_chunk(*problems[level]);
      if (leads()) finish_level(*problems[level]);
      rt_.wait_quiescence();
      rt_.destroy(kept_.patches);
      kept_.patches = {};
      kept_.step = 0;
      ++kept_.level;
    }
    outcome_.errors = kept_.errors;
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] bool leads() const { return rt_.rank() == nacre::rank_id{0}; }
  [[nodiscard]] static bool keeps_energy(const problem& problem) {
    return problem.sources.empty() && !problem.exact && !problem.grid.has_layers();
  }

  void demand_may_go_on(const problem& next) const {
    demand_same(kept_.problem, conditions_of(next));
    if (kept_.step <= next.steps) return;
    throw nacre::setup_error({fmt::format("the image is of step {}, and this job has {}", kept_.step, next.steps),
                              "it would have to go back", "raise --time, or leave out --nacre.restore"});
  }

  void begin_level(const std::shared_ptr<const problem>& next) {
    if (!kept_.patches) {
      const auto usual = 2 * rt_.size() * static_cast<std::uint32_t>(rt_.workers());
      cut_ = cut_into(next->grid, static_cast<int>(asked_.patches != 0 ? asked_.patches : usual));
      kept_.patches_y = cut_.y();
      kept_.patches_z = cut_.z();
      kept_.problem = conditions_of(*next);
      kept_.seconds = kept_.first_energy = kept_.energy_drift = kept_.greatest = 0;
    } else {
      if (leads()) demand_may_go_on(*next);                      // which ends the job
      cut_ = cut(next->grid, kept_.patches_y, kept_.patches_z);  // a job that goes on has the patches of its image
    }
    rt_.local(worlds_).set(next, cut_, asked_.is_simulated);
    rt_.barrier();
    if (!kept_.patches) {
      kept_.patches = rt_.create_array<patch>(
          nacre::extents{cut_.z(), cut_.y()},
          [this](nacre::index index) { return patch(worlds_, static_cast<int>(index[1]), static_cast<int>(index[0])); },
          nacre::by_tile{});
    }
    if (leads()) outcome_.bytes_per_point = gather(*next).bytes_per_point();  // which makes the fields of all patches
    rt_.wait_quiescence();
  }

  void run_chunk(const problem& problem) {
    const int last = std::min(next_stop(problem), problem.steps);
    const double begin = rt_.now();
    if (leads()) rt_.send<&patch::run_until>(kept_.patches, kept_.patches, last, keeps_energy(problem));
    rt_.wait_quiescence();
    kept_.seconds += rt_.now() - begin;
    if (leads() && rt_.local(worlds_).is_unstable()) refuse_to_go_on(problem, last);
    if (leads()) look_at_results(problem, last);
    kept_.step = last;
    rt_.wait_quiescence(kept_);
  }

  [[noreturn]] static void refuse_to_go_on(const problem& problem, int step) {
    throw std::runtime_error(fmt::format(
        "the displacement grows without end, and is not finite at step {} of {}: the step of {:.3g} s is too "
        "long for these materials: take a smaller --step",
        step, problem.steps, problem.grid.dt));
  }

  /// The next step at which all ranks wait.
  [[nodiscard]] int next_stop(const problem& problem) const {
    int stop = kept_.step + static_cast<int>(asked_.chunk);
    if (kept_.step == 0 && keeps_energy(problem)) stop = 1;
    if (const snapshot_times& times = watching_.snapshots; watching_.on_snapshot && times.interval > 0) {
      stop = std::min(stop, times.step_of(times.number_at(kept_.step) + 1));
    }
    return stop;
  }

  void look_at_results(const problem& problem, int step) {
    if (keeps_energy(problem)) {
      const double energy = gather(problem).energy();
      if (kept_.first_energy == 0) kept_.first_energy = energy;
      kept_.energy_drift = std::max(kept_.energy_drift, std::abs(energy / kept_.first_energy - 1));
    }
    const snapshot_times& times = watching_.snapshots;
    const int number = times.number_at(step);
    const bool is_due = times.interval > 0 ? number > 0 && times.step_of(number) == step : step == problem.steps;
    if (watching_.on_snapshot && is_due) {
      plane_points plane = gather(problem).plane(watching_.plane_axis, watching_.plane_at);
      plane.time = step * problem.grid.dt;
      plane.greatest = kept_.greatest = std::max(kept_.greatest, greatest_in(plane));
      watching_.on_snapshot(number, plane);
    }
    if (watching_.on_progress) watching_.on_progress(step, problem.steps, kept_.seconds);
  }

  void finish_level(const problem& problem) {
    gatherer results = gather(problem);
    if (problem.exact) kept_.errors.push_back(results.relative_error());
    if (keeps_energy(problem)) outcome_.energy_drift = kept_.energy_drift;
    outcome_.seconds = kept_.seconds;
    outcome_.points_per_second =
        static_cast<double>(problem.grid.points()) * problem.steps / std::max(kept_.seconds, 1e-9);
    outcome_.digest = results.digest();
    outcome_.motions = results.motions();
  }

  [[nodiscard]] gatherer gather(const problem& problem) { return {rt_, kept_.patches, cut_, problem}; }

  nacre::runtime& rt_;
  const run_options& asked_;
  const observers& watching_;
  nacre::group_ptr<world> worlds_;
  progress kept_;
  cut cut_;
  outcome outcome_;
};

}  // namespace

int snapshot_times::number_at(int step) const {
  if (interval == 0) return 0;
  const auto nearest = static_cast<int>(std::lround(step / interval));
  return step_of(nearest) <= step ? nearest : nearest - 1;
}

outcome simulate(nacre::runtime& rt, const std::vector<std::shared_ptr<const problem>>& problems,
                 const run_options& asked, const observers& watching) {
  return simulation(rt, asked, watching).run(problems);
}

}  // namespace waves
