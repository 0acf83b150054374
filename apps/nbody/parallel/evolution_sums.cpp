// SPDX-License-Identifier: Apache-2.0
// Energies and momenta, and where pieces go.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "output/projection.hpp"
#include "parallel/evolution.hpp"

namespace nbody {
namespace {

constexpr double imbalance_max = 1.05;  // of ranks: what pieces are moved for, and the curve cut

}  // namespace

/// Adds the sums of branches in the order of the curve, whichever pieces they came from.
void evolution::measure(std::vector<branch_sums> sums) {
  std::sort(sums.begin(), sums.end(), [](const branch_sums& a, const branch_sums& b) { return a.branch < b.branch; });
  measurement now{.time = state_.time};
  for (const branch_sums& each : sums) {
    now.kinetic += each.kinetic, now.potential += each.potential, now.mass += each.mass;
    now.momentum = now.momentum + each.momentum, now.angular = now.angular + each.angular;
    now.centre = now.centre + each.first_moment;
    now.absolute_momentum += each.absolute[0] + each.absolute[1] + each.absolute[2];
  }
  now.centre = 1 / now.mass * now.centre;
  now.radii = radii_about(now.centre);
  state_.last = now;
}

std::array<double, 5> evolution::radii_about(const vector3& centre) const {
  const auto masses_on = [&](const radial_scale& scale) {
    return rt_.reduce<&piece::radial_masses>(state_.pieces, add_all{}, centre, state_.mass, scale).get();
  };
  radial_scale scale;
  std::vector<std::uint64_t> masses = masses_on(scale), all_masses;
  std::array<double, 5> radii{};
  for (std::size_t k = 0; k < lagrange_parts.size(); ++k) {
    std::optional<double> radius = radius_of_part(masses, lagrange_parts[k], scale);
    if (!radius) {  // other units of length than the usual ones, or most of the mass in one place
      if (all_masses.empty()) all_masses = masses_on(widest_scale);
      const std::optional<double> near = radius_of_part(all_masses, lagrange_parts[k], widest_scale);
      if (!near) continue;  // a single body is its own centre
      scale = scale_around(*near);
      masses = masses_on(scale);
      radius = radius_of_part(masses, lagrange_parts[k], scale);
    }
    radii[k] = radius.value_or(0);
  }
  return radii;
}

/// Cuts the branches into pieces: by their weights, or where the pieces began at the last cut.
std::vector<std::uint32_t> evolution::cut_pieces(const std::vector<counted_cell>& branches, const frame& frame) {
  const auto pieces = static_cast<std::uint32_t>(state_.rank_of_piece.size());
  const bool keeps_places = asked_.balance == balance_kind::bound || asked_.balance == balance_kind::cut;
  if (!keeps_places) return cut_runs(branch_weights(branches), pieces);
  const std::int64_t steps = state_.step - state_.cut_step;
  const bool is_due = asked_.balance == balance_kind::bound ? asked_.recut_steps != 0 && steps >= asked_.recut_steps
                                                            : steps > 0 && imbalance() > imbalance_max;
  if (!state_.piece_corners.empty() && !is_due) return runs_from(state_.piece_corners, branches, frame);
  std::vector<std::uint32_t> first = cut_runs(branch_weights(branches), pieces);
  state_.cut_step = state_.step;
  state_.piece_corners.clear();
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    const bool is_empty = first[piece] == branches.size();
    state_.piece_corners.push_back(frame.place_of(is_empty ? ~curve_key{0} : branches[first[piece]].cell.first));
  }
  return first;
}

/// Bodies, or the time that they took in the last step, as far as that is known and asked for.
std::vector<double> evolution::branch_weights(const std::vector<counted_cell>& branches) const {
  std::vector<double> weights;
  for (const counted_cell& each : branches) weights.push_back(static_cast<double>(each.count));
  const bool by_time = asked_.balance == balance_kind::cut || asked_.balance == balance_kind::bound;
  if (!by_time || state_.piece_seconds.empty()) return weights;
  // A branch weighs its bodies times the seconds that each body of the piece took in which it begins.
  const std::size_t pieces = state_.piece_seconds.size();
  std::vector<double> seconds_each(pieces);
  std::vector<curve_key> begins(pieces);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    std::uint64_t bodies = 0;
    const std::uint32_t first = state_.first_of_piece[piece], end = state_.first_of_piece[piece + 1];
    for (std::uint32_t k = first; k < end; ++k) bodies += state_.branches[k].count;
    begins[piece] = first < state_.branches.size() ? state_.branches[first].cell.first : ~curve_key{0};
    seconds_each[piece] = bodies == 0 ? 0 : state_.piece_seconds[piece] / static_cast<double>(bodies);
  }
  const double least = 1e-12;  // a branch without active bodies is not free
  for (std::size_t k = 0; k < branches.size(); ++k) {
    const auto next = std::upper_bound(begins.begin(), begins.end(), branches[k].cell.first);
    const auto piece = static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - begins.begin() - 1, 0));
    weights[k] *= seconds_each[piece] + least;
  }
  return weights;
}

void evolution::add_seconds(const std::vector<double>& piece_seconds) {
  state_.step_seconds.resize(state_.rank_of_piece.size());
  for (std::size_t k = 0; k + 1 < piece_seconds.size(); k += 2) {
    state_.step_seconds[static_cast<std::size_t>(piece_seconds[k])] += piece_seconds[k + 1];
  }
}

double evolution::imbalance() const {
  std::vector<double> ranks(rt_.size());
  double all = 0;
  for (std::size_t piece = 0; piece < state_.piece_seconds.size(); ++piece) {
    ranks[state_.rank_of_piece[piece]] += state_.piece_seconds[piece], all += state_.piece_seconds[piece];
  }
  return all > 0 ? *std::max_element(ranks.begin(), ranks.end()) * static_cast<double>(ranks.size()) / all : 1;
}

/// Gives each rank a range of pieces that took an equal time in this step, if some rank took 5 % more than the mean.
void evolution::balance() {
  state_.piece_seconds = std::exchange(state_.step_seconds, {});
  const bool moves_pieces = asked_.balance == balance_kind::ranges || asked_.balance == balance_kind::cut;
  if (!moves_pieces || rt_.size() == 1 || imbalance() <= imbalance_max) return;
  const std::vector<std::uint32_t> first = cut_runs(state_.piece_seconds, rt_.size());
  std::vector<nacre::future<void>> moves;
  for (std::uint32_t rank = 0; rank < rt_.size(); ++rank) {
    for (std::uint32_t piece = first[rank]; piece < first[rank + 1]; ++piece) {
      if (state_.rank_of_piece[piece] == rank) continue;
      state_.rank_of_piece[piece] = rank;
      moves.push_back(rt_.migrate(state_.pieces[piece], nacre::rank_id{rank}));
    }
  }
  state_.work.moves += moves.size();
  for (nacre::future<void>& each : moves) each.get();
}

}  // namespace nbody
