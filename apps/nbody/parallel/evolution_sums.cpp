// SPDX-License-Identifier: Apache-2.0
// Energies and momenta, and where pieces go.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "output/projection.hpp"
#include "parallel/evolution.hpp"

namespace nbody {
namespace {

constexpr double imbalance_max = 1.05;  // of ranks: what pieces are moved for, and the curve cut
constexpr double worthwhile = 0.97;     // of the greatest time of a rank: what that is to gain
constexpr double unusual = 1.5;         // times what a piece takes for its operations: more is no work

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
  const bool is_due = std::exchange(state_.recut_is_due, false);
  const bool keeps_places = asked_.balance == balance_kind::bound || asked_.balance == balance_kind::cut;
  const std::vector<double> weights = branch_weights(branches);
  // Equal pieces: with `ranges` a rank has less to do by having fewer of them.
  if (!keeps_places) return cut_runs(weights, static_cast<std::uint32_t>(state_.rank_of_piece.size()));
  std::vector<std::uint32_t> kept;
  if (!state_.piece_corners.empty()) {
    kept = runs_from(state_.piece_corners, branches, frame);
    if (!is_due) return kept;
  }
  std::vector<std::uint32_t> first = cut_nested_runs(weights, state_.rank_of_piece);
  if (!kept.empty() && asked_.balance == balance_kind::cut &&
      greatest_group(weights, first, state_.rank_of_piece) >
          worthwhile * greatest_group(weights, kept, state_.rank_of_piece)) {
    return kept;
  }
  state_.cut_step = state_.step;
  state_.piece_corners.clear();
  for (std::size_t piece = 0; piece + 1 < first.size(); ++piece) {
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

void evolution::add_times(const std::vector<piece_time>& times) {
  state_.step_times.resize(state_.rank_of_piece.size());
  for (const piece_time& each : times) {
    piece_time& sum = state_.step_times[each.piece];
    sum.measured += each.measured, sum.counted += each.counted;
  }
}

/// The seconds of each piece, as far as they are those of its work: a piece that took far longer than others of its
/// rank for as many operations has waited for memory or for other programs.
std::vector<double> evolution::seconds_by_work(const std::vector<piece_time>& times) const {
  std::vector<std::vector<double>> paces(rt_.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (times[k].counted > 0) paces[state_.rank_of_piece[k]].push_back(times[k].measured / times[k].counted);
  }
  for (std::vector<double>& each : paces) {
    const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
    if (!each.empty()) std::nth_element(each.begin(), middle, each.end()), each.front() = *middle;
  }
  std::vector<double> seconds;
  for (std::size_t k = 0; k < times.size(); ++k) {
    const std::vector<double>& pace = paces[state_.rank_of_piece[k]];
    const double usual = pace.empty() ? 0 : pace.front() * times[k].counted;
    seconds.push_back(std::min(times[k].measured, unusual * usual));
  }
  return seconds;
}

double evolution::imbalance() const {
  std::vector<double> ranks(rt_.size());
  double all = 0;
  for (std::size_t piece = 0; piece < state_.piece_seconds.size(); ++piece) {
    ranks[state_.rank_of_piece[piece]] += state_.piece_seconds[piece], all += state_.piece_seconds[piece];
  }
  return all > 0 ? *std::max_element(ranks.begin(), ranks.end()) * static_cast<double>(ranks.size()) / all : 1;
}

/// At the end of a step: takes its times, and if some rank took 5 % more than the mean, lets the next evaluation cut
/// the curve anew, or moves pieces.
void evolution::balance() {
  state_.piece_seconds = seconds_by_work(std::exchange(state_.step_times, {}));
  state_.recut_is_due = asked_.balance == balance_kind::bound
                            ? asked_.recut_steps != 0 && state_.step + 1 - state_.cut_step >= asked_.recut_steps
                            : asked_.balance == balance_kind::cut && imbalance() > imbalance_max;
  if (asked_.balance == balance_kind::ranges && rt_.size() > 1 && imbalance() > imbalance_max) move_pieces();
}

/// Gives each rank a range of pieces that took an equal time in this step, if that is worth it.
void evolution::move_pieces() {
  std::vector<std::uint32_t> ranks, each_piece(state_.piece_seconds.size() + 1);
  std::iota(each_piece.begin(), each_piece.end(), 0U);
  const std::vector<std::uint32_t> first = cut_runs(state_.piece_seconds, rt_.size());
  for (std::uint32_t rank = 0; rank < rt_.size(); ++rank) ranks.resize(first[rank + 1], rank);
  if (greatest_group(state_.piece_seconds, each_piece, ranks) >
      worthwhile * greatest_group(state_.piece_seconds, each_piece, state_.rank_of_piece)) {
    return;
  }
  std::vector<nacre::future<void>> moves;
  for (std::uint32_t piece = 0; piece < ranks.size(); ++piece) {
    if (std::exchange(state_.rank_of_piece[piece], ranks[piece]) == ranks[piece]) continue;
    moves.push_back(rt_.migrate(state_.pieces[piece], nacre::rank_id{ranks[piece]}));
  }
  state_.work.moves += moves.size();
  for (nacre::future<void>& each : moves) each.get();
}

}  // namespace nbody
