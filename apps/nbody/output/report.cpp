// SPDX-License-Identifier: Apache-2.0
// Lines of progress, the summary, and the JSON object.
#include "output/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace nbody {
namespace {

double drift_of(const measurement& first, const measurement& last) {
  return first.energy() == 0 ? 0 : std::abs((last.energy() - first.energy()) / first.energy());
}

double millions(std::uint64_t count) { return static_cast<double>(count) * 1e-6; }

}  // namespace

result result_of(const evolution_state& state, const std::optional<force_error>& forces, std::uint64_t digest) {
  const measurement &first = state.first, &last = state.last;
  const double absolute = std::max(first.absolute_momentum, last.absolute_momentum);
  const work_sums& work = state.work;
  return {.has_forces = forces.has_value(),
          .forces = forces.value_or(force_error{}),
          .energy_drift = drift_of(first, last),
          .momentum_drift = absolute > 0 ? length(last.momentum - first.momentum) / absolute : 0,
          .seconds = work.seconds,
          .interactions_per_s =
              work.force_seconds > 0 ? static_cast<double>(work.counts.interactions()) / work.force_seconds : 0,
          .digest = digest};
}

std::string result_json(const result& result) {
  const auto compared = [&](double error) {
    return result.has_forces ? nlohmann::json(error) : nlohmann::json(nullptr);
  };
  const nlohmann::ordered_json json{{"force_rms", compared(result.forces.root_mean_square)},
                                    {"force_p99", compared(result.forces.percentile_99)},
                                    {"energy_drift", result.energy_drift},
                                    {"momentum_drift", result.momentum_drift},
                                    {"seconds", result.seconds},
                                    {"interactions_per_s", result.interactions_per_s},
                                    {"digest", fmt::format("{:016x}", result.digest)}};
  return json.dump(2) + "\n";
}

std::string progress_title() {
  return fmt::format("{:>8}{:>12}{:>14}{:>11}{:>11}  radii of 1, 10, 50, 75, 90 % of the mass\n", "step", "time",
                     "energy", "drift", "seconds");
}

std::string progress_line(const evolution_state& state) {
  const measurement& now = state.last;
  std::string line = fmt::format("{:>8}{:>12.5g}{:>14.7g}{:>11.2e}{:>11.3f} ", state.step, now.time, now.energy(),
                                 drift_of(state.first, now), state.work.seconds);
  for (const double radius : now.radii) line += fmt::format(" {:.4g}", radius);
  return line + "\n";
}

std::string result_text(const evolution_state& state, const result& result) {
  const work_sums& work = state.work;
  const double evaluations = static_cast<double>(work.evaluations);
  const vector3 &previous = state.first.angular, &last = state.last.angular;
  std::string text = fmt::format(
      "\n{} bodies in {} pieces, {} evaluations of the forces, {:.3g} active bodies each\n"
      "interactions (millions): {:.1f} cell-cell, {:.1f} cell-body, {:.1f} body-body; {:.3g} a second\n"
      "momentum drift {:.2e}; angular momentum ({:.6g}, {:.6g}, {:.6g}), before ({:.6g}, {:.6g}, {:.6g})\n",
      state.bodies, state.rank_of_piece.size(), work.evaluations, static_cast<double>(work.active) / evaluations,
      millions(work.counts.cell_cell), millions(work.counts.cell_body), millions(work.counts.body_body),
      result.interactions_per_s, result.momentum_drift, last[0], last[1], last[2], previous[0], previous[1],
      previous[2]);
  const store_counts& fetches = work.fetches;
  if (fetches.needed > 0) {
    text += fmt::format(
        "parts of other ranks, in an evaluation: {:.1f} asked for by {:.1f} requests, {:.1f} pushed, {:.1f} messages "
        "with "
        "parts, {:.2f} MB; {:.1f} % of {} looks found them there or on their way; {} pieces moved\n",
        static_cast<double>(fetches.fetched) / evaluations, static_cast<double>(fetches.requests) / evaluations,
        static_cast<double>(fetches.pushed) / evaluations, static_cast<double>(fetches.answers) / evaluations,
        static_cast<double>(fetches.bytes) * 1e-6 / evaluations,
        100 * (1 - static_cast<double>(fetches.fetched) / static_cast<double>(fetches.needed)), fetches.needed,
        work.moves);
  }
  if (result.has_forces) {
    text += fmt::format(
        "forces beside direct sums: root mean square {:.2e}, median {:.2e}, 99th percentile {:.2e}, "
        "largest {:.2e}\n",
        result.forces.root_mean_square, result.forces.median, result.forces.percentile_99, result.forces.largest);
  }
  return text + fmt::format("energy drift {:.2e}, {:.3f} s, digest {:016x}\n", result.energy_drift, result.seconds,
                            result.digest);
}

}  // namespace nbody
