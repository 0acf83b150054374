// SPDX-License-Identifier: Apache-2.0
// A piece in a step: its forces, and the kicks by them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "numerics/forest.hpp"
#include "parallel/piece.hpp"

namespace nbody {
namespace {

/// Seconds of a walk by its operations, which are those that it takes on the simulated machine.
double simulated_seconds(const walk_counts& counts) noexcept {
  constexpr double test = 5e-9, cell = 15e-9, cell_body = 4e-9, pair = 0.25e-9;  // as measured with AVX-512
  return test * static_cast<double>(counts.tests) + cell * static_cast<double>(counts.cell_cell) +
         cell_body * static_cast<double>(counts.cell_body) + pair * static_cast<double>(counts.body_body);
}

/// The longest step that a body may have (Springel, MNRAS 364 (2005) 1105).
double wanted_step(const vector3& acceleration, const substep& now) {
  return std::sqrt(2 * now.efficiency * now.softening / length(acceleration));
}

/// The rung whose step is at most `wanted`. Longer steps begin only where they fit: `end` is where the step ends that
/// is over now.
std::uint32_t rung_of(double wanted, const substep& now, std::uint32_t end) {
  std::uint32_t rung = 0;
  while (rung < now.rungs && (now.step_of(rung) > wanted || end % (1u << (now.rungs - rung)) != 0)) ++rung;
  return rung;
}

void add_to(branch_sums& sums, const body& body, double potential) {
  sums.kinetic += 0.5 * body.mass * dot(body.velocity, body.velocity);
  sums.potential += 0.5 * body.mass * potential;
  sums.mass += body.mass;
  sums.momentum = sums.momentum + body.mass * body.velocity;
  sums.angular = sums.angular + body.mass * cross(body.place, body.velocity);
  sums.first_moment = sums.first_moment + body.mass * body.place;
  for (std::size_t axis = 0; axis < 3; ++axis) sums.absolute[axis] += body.mass * std::abs(body.velocity[axis]);
}

/// Whether a step of the body ends now.
bool acts(const walk_plan& plan, const body& body) noexcept { return plan.first || plan.now.ends(body.rung); }

/// The second half of a body's kick, and its next rung. `force` is that for G = 1. Returns the acceleration.
vector3 end_kick(const walk_plan& plan, body& body, const direct_force& force, branch_sums& sums, walk_report& report) {
  const vector3 acceleration = plan.gravity * force.acceleration;
  if (!plan.first) body.velocity = body.velocity + 0.5 * plan.now.step_of(body.rung) * acceleration;
  if (plan.now.rungs > 0) {
    const double wanted = wanted_step(acceleration, plan.now);
    body.rung = rung_of(wanted, plan.now, plan.now.first + plan.now.length);
    if (wanted < plan.now.step_of(plan.now.rungs)) ++report.hurried;
  }
  report.finest_rung = std::max(report.finest_rung, body.rung);
  ++report.active;
  if (plan.measures) add_to(sums, body, plan.gravity * force.potential);
  return acceleration;
}

}  // namespace

nacre::awaited<> piece::arrived(epoch_number /*epoch*/) { return {}; }

nacre::task<walk_report> piece::walk(nacre::context& ctx, walk_plan plan, store::group stores) {
  const nacre::phase named(ctx, "walk");
  store& store = ctx.local(stores);
  while (store.awaits_roots(plan.epoch, ctx.self<piece>()) ||
         store.fetch(ctx, stores, first_branch_, end_branch_, ctx.self<piece>())) {
    co_await ctx.next<&piece::arrived>(plan.epoch);
  }
  walk_report report;
  const double begin = thread_seconds();  // from here on the coroutine stays on its thread
  std::unique_ptr<walk_memory> memory = store.borrow();
  accelerations_.resize(bodies_.size());
  std::size_t first = 0;
  for (std::uint32_t branch = first_branch_; branch < end_branch_; ++branch) {
    const auto count = static_cast<std::size_t>(counts_[branch - first_branch_]);
    walk_branch(plan, store, branch, first, *memory, report);
    first += count;
  }
  store.give_back(std::move(memory));
  const double counted = simulated_seconds(report.counts);
  seconds_ = plan.simulated ? counted : thread_seconds() - begin;
  if (plan.simulated) ctx.charge(seconds_);
  report.times = {{number_, seconds_, counted}};
  co_return report;
}

void piece::walk_branch(const walk_plan& plan, const store& store, std::uint32_t branch, std::size_t first,
                        walk_memory& memory, walk_report& report) {
  const tree_rules& rules = store.rules();
  const std::span bodies = std::span(bodies_).subspan(first, counts_[branch - first_branch_]);
  std::vector<std::uint32_t> active_before;  // empty: all are active
  const auto is_active = [&](const body& each) { return acts(plan, each); };
  if (!std::all_of(bodies.begin(), bodies.end(), is_active)) {
    active_before.push_back(0);
    for (const body& each : bodies) active_before.push_back(active_before.back() + (is_active(each) ? 1 : 0));
    if (active_before.back() == 0) return;
  }
  const top_place place = store.top().places[branch];
  walk_task task{.tree = store.top().root(),
                 .parent = store.top().group_at(place.group, rules.wanted.order),
                 .lane = place.lane,
                 .branches = store.views().data(),
                 .active_before = active_before.empty() ? nullptr : active_before.data(),
                 .rules = walk_rules_for(rules, plan.soft, plan.measures)};
  memory.prepare(bodies.size(), store.roots()[branch].largest_leaf);
  best_kernels().walk[rules.wanted.order - order_min](task, memory, report.counts);
  const result_units units = units_of(rules);
  branch_sums sums{.branch = branch};
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    if (!is_active(bodies[k])) continue;
    vector3 pull;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      pull[axis] = units.acceleration * static_cast<double>(memory.results[axis][k]);
    }
    const double potential = -units.potential * static_cast<double>(memory.results[3][k]);
    accelerations_[first + k] = end_kick(plan, bodies[k], {pull, potential}, sums, report);
  }
  if (plan.measures) report.sums.push_back(sums);
}

walk_report piece::walk_directly(walk_plan plan, std::vector<body> all) {
  walk_report report;
  branch_sums sums{.branch = number_};
  accelerations_.resize(bodies_.size());
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    if (!acts(plan, bodies_[k])) continue;
    direct_force force;
    add_direct(all, bodies_[k].place, bodies_[k].number, plan.soft, force);
    report.counts.body_body += all.size();
    accelerations_[k] = end_kick(plan, bodies_[k], force, sums, report);
  }
  report.sums = {sums};
  return report;
}

}  // namespace nbody
