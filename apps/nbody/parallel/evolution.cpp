// SPDX-License-Identifier: Apache-2.0
// Steps and their forces.
#include "parallel/evolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "numerics/forest.hpp"
#include "output/projection.hpp"
#include "output/snapshot.hpp"

namespace nbody {
namespace {

void demand_finite(const body_box& box, std::int64_t step) {
  if (is_finite(box)) return;
  throw nacre::setup_error({fmt::format("a body has left for infinity in step {}", step),
                            "steps are too long for the forces, or bodies meet without a softening",
                            "try a shorter --step, or --softening"});
}

}  // namespace

void evolution::make_pieces(std::uint64_t bodies_read) {
  options sized = asked_;
  if (asked_.model.kind == model_kind::file) sized.model.bodies = bodies_read;
  const std::uint32_t pieces = pieces_for(sized);
  state_.bodies = sized.model.bodies;
  state_.pieces = rt_.create_array<piece>(nacre::extents{pieces});
  for (std::int64_t k = 0; k < pieces; ++k) state_.rank_of_piece.push_back(state_.pieces.home_of({k}).value());
}

void evolution::go_on() {
  demand_same(state_.options, kept_options_of(asked_));
  demand_same_pictures();
  if (state_.step > static_cast<std::int64_t>(asked_.steps)) {
    throw nacre::setup_error({fmt::format("the image is of step {}, and --steps is {}", state_.step, asked_.steps),
                              "it would have to go back", "raise --steps, or leave out --nacre.restore"});
  }
  for (std::size_t k = 0; k < state_.rank_of_piece.size(); ++k) {
    state_.rank_of_piece[k] = rt_.home_of(state_.pieces[static_cast<std::int64_t>(k)]).value();
  }
}

/// Pictures of one animation have one size, and show one part of space.
void evolution::demand_same_pictures() const {
  if (asked_.pictures.empty() || state_.pixels == 0) return;
  const auto pictured = [](const auto& pixels, const auto& half_width) {
    return std::vector<kept_option>{{"--pixels", fmt::format("{}", pixels)},
                                    {"--half-width", fmt::format("{}", half_width)}};
  };
  const bool keeps_width = asked_.half_width == 0;
  demand_same(pictured(state_.pixels, state_.half_width),
              pictured(asked_.pixels, keeps_width ? state_.half_width : asked_.half_width));
}

void evolution::begin(snapshot read) {
  state_.options = kept_options_of(asked_);
  state_.ids = std::move(read.ids);
  fill(read);
  walk_plan plan{.measures = true, .first = true, .now = substep_at(0)};
  plan.now.length = 0;
  const double begin = rt_.now();
  compute_forces({.box = rt_.reduce<&piece::box>(state_.pieces, join_boxes{}).get()}, plan);
  balance();
  count_fetches();
  state_.work.seconds += rt_.now() - begin;
  state_.first = state_.last;
}

void evolution::fill(const snapshot& read) {
  if (asked_.model.kind == model_kind::file) {
    const std::size_t count = read.bodies.size(), pieces = state_.rank_of_piece.size();
    state_.time = read.time;
    std::vector<nacre::future<void>> sent;
    for (std::size_t k = 0; k < pieces; ++k) {
      const auto first = read.bodies.begin() + static_cast<std::ptrdiff_t>(k * count / pieces);
      const auto end = read.bodies.begin() + static_cast<std::ptrdiff_t>((k + 1) * count / pieces);
      sent.push_back(
          rt_.call<&piece::adopt>(state_.pieces[static_cast<std::int64_t>(k)], std::vector<body>(first, end)));
    }
    for (nacre::future<void>& each : sent) each.get();
  } else {
    rt_.call<&piece::fill>(state_.pieces, asked_.model, static_cast<std::uint32_t>(state_.rank_of_piece.size())).get();
  }
  settle();
}

/// Takes the sums of all bodies, and brings the bodies of a model to rest about the origin.
void evolution::settle() {
  branch_sums all;
  for (const branch_sums& each : rt_.reduce<&piece::total>(state_.pieces, append_all{}).get()) {
    all.mass += each.mass;
    all.momentum = all.momentum + each.momentum, all.first_moment = all.first_moment + each.first_moment;
  }
  state_.mass = all.mass;
  if (asked_.model.kind == model_kind::file) return;
  rt_.call<&piece::shift>(state_.pieces, 1 / all.mass * all.first_moment, 1 / all.mass * all.momentum).get();
}

substep evolution::substep_at(std::uint32_t first) const {
  return {.longest = asked_.step,
          .first = first,
          .length = 1u << (asked_.rungs - state_.finest_rung),
          .rungs = asked_.rungs,
          .efficiency = asked_.efficiency,
          .softening = asked_.soft.length};
}

void evolution::step() {
  const double begin = rt_.now();
  const std::int64_t next = state_.step + 1;
  const bool measures = next % asked_.report_steps == 0 || next == static_cast<std::int64_t>(asked_.steps);
  const std::uint32_t units = 1u << asked_.rungs;
  for (std::uint32_t first = 0; first < units;) {
    const substep now = substep_at(first);
    first += now.length;
    advance(now, measures && first == units);
  }
  balance();
  count_fetches();
  state_.work.seconds += rt_.now() - begin;
}

void evolution::count_fetches() {
  if (rt_.size() == 1 || asked_.error == 0) return;
  state_.work.fetches = add_counts{}(state_.work.fetches, rt_.reduce<&store::take_counts>(stores_, add_counts{}).get());
}

void evolution::advance(const substep& now, bool measures) {
  sort_plan ahead;  // for the present frame, which bodies seldom leave
  if (asked_.error != 0) ahead = {state_.epoch + 1, state_.bounds, state_.cut.cells()};
  drift_report report = rt_.reduce<&piece::drift>(state_.pieces, join_drifts{}, now, std::move(ahead), stores_).get();
  state_.time += now.seconds();
  compute_forces(std::move(report), {.measures = measures, .now = now});
}

void evolution::compute_forces(drift_report drifted, walk_plan plan) {
  demand_finite(drifted.box, state_.step);
  const double begin = rt_.now();
  plan.epoch = ++state_.epoch;
  plan.soft = asked_.soft, plan.gravity = asked_.gravity, plan.simulated = simulated_;
  walk_report report;
  if (asked_.error == 0) {
    report = rt_.reduce<&piece::walk_directly>(state_.pieces, join_reports{}, plan, bodies()).get();
  } else {
    report = walk_tree(std::move(drifted), plan);
  }
  state_.finest_rung = report.finest_rung;
  hurried_ = report.hurried;
  work_sums& work = state_.work;
  work.counts += report.counts, work.active += report.active, ++work.evaluations;
  work.force_seconds += rt_.now() - begin;
  if (plan.measures) measure(std::move(report.sums));
  add_times(report.times);
}

/// Plan and roots are on their way to the stores while pieces are called that wait for them there.
walk_report evolution::walk_tree(drift_report drifted, const walk_plan& plan) {
  largest_leaf_ = 0, box_ = drifted.box;
  const cut_plan cut_now = cut(std::move(drifted));
  nacre::future<void> is_told = rt_.call<&store::set_plan>(stores_, cut_now);
  std::vector<branch_root> roots =
      rt_.reduce<&piece::build>(state_.pieces, append_all{}, plan.epoch, state_.pieces, stores_).get();
  is_told.get();
  std::sort(roots.begin(), roots.end(),
            [](const branch_root& a, const branch_root& b) { return a.cell.first < b.cell.first; });
  NACRE_ENSURE(roots.size() == cut_now.branches.size(), "each branch has one owner");
  for (const branch_root& each : roots) largest_leaf_ = std::max(largest_leaf_, each.largest_leaf);
  is_told = rt_.call<&store::set_roots>(stores_, stores_, std::move(roots));
  walk_report report = rt_.reduce<&piece::walk>(state_.pieces, join_reports{}, plan, stores_).get();
  is_told.get();
  return report;
}

cut_plan evolution::cut(drift_report drifted) {
  const body_box& box = drifted.box;
  cut_plan plan{.epoch = state_.epoch, .pushes = asked_.essential == essential_kind::push};
  tree_rules& rules = plan.rules;
  const frame bounds =
      state_.epoch == 1 ? frame_around(box.low, box.high) : frame_after(state_.bounds, box.low, box.high);
  const bool is_sorted = !drifted.counts.empty() && bounds == state_.bounds;
  state_.bounds = bounds;
  rules.bounds = state_.bounds;
  rules.mass_unit = state_.mass;
  rules.spline_length = asked_.soft.shape == softening_shape::spline ? 2.8 * asked_.soft.length : 0;
  rules.wanted = accuracy_for(asked_.error);
  if (!is_sorted) {
    const sort_plan sorted{state_.epoch, bounds, state_.cut.cells()};
    drifted.counts = rt_.reduce<&piece::sort>(state_.pieces, add_all{}, sorted, stores_).get();
  }
  state_.cut.update(branch_bodies_for(state_.bodies), drifted.counts, [&](const std::vector<curve_cell>& cells) {
    return rt_.reduce<&piece::counts>(state_.pieces, add_all{}, cells).get();
  });
  plan.branches = state_.cut.branches();
  rules.bounds.unit = unit_of(plan.branches, rules.bounds.size);
  plan.first_of_piece = cut_pieces(plan.branches, rules.bounds);
  state_.branches = plan.branches, state_.first_of_piece = plan.first_of_piece;
  return plan;
}

std::string evolution::warning() const {
  constexpr std::uint32_t crowd = 1024;  // leaves of fewer bodies do not cost much
  if (largest_leaf_ < crowd) return {};
  double reach = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double centre = state_.last.centre[axis];
    reach = std::max({reach, box_.high[axis] - centre, centre - box_.low[axis]});
  }
  return fmt::format(
      "{} of {} bodies share one cell of the smallest size, where each acts on each other one by itself (a body is "
      "{:.2g} "
      "times as far out as half of the mass, and the smallest cells are 2^-{} of the whole): leave out bodies that are "
      "far away",
      largest_leaf_, state_.bodies, reach / state_.last.radii[2], levels_max);
}

std::string evolution::rung_warning() const {
  if (hurried_ == 0) return {};
  return fmt::format(
      "{} of {} bodies want a shorter step than the shortest, {:.3g}, and take that one: give more --rungs than {}, or "
      "a "
      "shorter --step",
      hurried_, state_.bodies, substep_at(0).step_of(asked_.rungs), asked_.rungs);
}

force_error evolution::check() const {
  std::vector<std::uint32_t> numbers;
  nacre::rng random(asked_.model.seed);
  const std::uint64_t wanted = std::min<std::uint64_t>(asked_.samples, state_.bodies);
  for (std::uint64_t k = 0; k < wanted; ++k) {
    numbers.push_back(static_cast<std::uint32_t>(wanted == state_.bodies ? k : random.below(state_.bodies)));
  }
  std::sort(numbers.begin(), numbers.end());
  const auto samples = rt_.reduce<&piece::samples>(state_.pieces, append_all{}, numbers).get();
  struct add_forces {
    std::vector<direct_force> operator()(std::vector<direct_force> a, const std::vector<direct_force>& b) const {
      for (std::size_t k = 0; k < a.size(); ++k) {
        a[k].acceleration = a[k].acceleration + b[k].acceleration;
      }
      return a;
    }
  };
  const auto exact = rt_.reduce<&piece::direct>(state_.pieces, add_forces{}, samples, asked_.soft).get();
  std::vector<vector3> vector3s, wanted_forces;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    vector3s.push_back(samples[k].acceleration), wanted_forces.push_back(asked_.gravity * exact[k].acceleration);
  }
  return error_of(vector3s, wanted_forces);
}

std::uint64_t evolution::digest() const { return rt_.reduce<&piece::digest>(state_.pieces, std::plus<>{}).get(); }

std::vector<body> evolution::bodies() const {
  std::vector<body> all = rt_.reduce<&piece::bodies>(state_.pieces, append_all{}).get();
  std::sort(all.begin(), all.end(), [](const body& a, const body& b) { return a.number < b.number; });
  return all;
}

std::vector<std::uint64_t> evolution::picture() {
  if (state_.half_width == 0) state_.half_width = asked_.half_width > 0 ? asked_.half_width : 3 * state_.last.radii[2];
  if (state_.half_width == 0) state_.half_width = state_.bounds.size;
  state_.pixels = asked_.pixels;
  const projection seen{.centre = state_.first.centre, .half_width = state_.half_width, .pixels = asked_.pixels};
  return rt_.reduce<&piece::pixel_masses>(state_.pieces, add_all{}, seen, state_.mass).get();
}

}  // namespace nbody
