// SPDX-License-Identifier: Apache-2.0
// Points that split slivers: near to the centre of the sphere, where the fewest new ones arise (Li and Teng 2001).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernel/refiner.hpp"
#include "kernel/shape.hpp"
#include "meshing/mixed_bits.hpp"

namespace mesh3d {
namespace {

/// Places that are tried, and how far from the centre they are, as a part of the radius.
constexpr std::uint64_t places_tried = 12;
constexpr double reach = 0.3;
/// A new point keeps this distance from vertices, as a part of the length that edges should have.
constexpr double apart_factor = 0.45;

/// Depends on the centre and the number only, so that the mesh does not depend on chance. The first one is the centre.
point place_near(const sphere& sphere, std::uint64_t k) {
  if (k == 0) return sphere.centre;
  std::uint64_t bits = meshing::mixed_bits(k);
  for (const double each : {sphere.centre.x, sphere.centre.y, sphere.centre.z}) {
    bits = meshing::mixed_bits(bits + std::bit_cast<std::uint64_t>(each));
  }
  const auto next = [&] {
    bits = meshing::mixed_bits(bits + 0x9e3779b97f4a7c15u);
    return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
  };
  const point aside{next(), next(), next()};
  return sphere.centre + aside * (std::sqrt(sphere.squared_radius) * reach);
}

}  // namespace

double least_dihedral(const std::array<point, 4>& corner) noexcept {
  const std::array<double, 6> degrees = dihedral_angles(corner);
  return *std::min_element(degrees.begin(), degrees.end());
}

std::array<point, 4> refiner::corners_of(index t) const {
  const auto& [a, b, c, d] = mesh_.tetrahedra[t].corner;
  return {mesh_.at(a), mesh_.at(b), mesh_.at(c), mesh_.at(d)};
}

/// How many fewer slivers there would be, for the point whose cavity has been collected.
int refiner::slivers_saved(const point& point) const {
  int saved = 0;
  for (const index t : hole_.inside()) saved += least_dihedral(corners_of(t)) < rule_.sliver_degrees ? 1 : 0;
  for (const facet f : hole_.border()) {
    const auto [a, b, c] = mesh_.corners(f);
    saved -= least_dihedral({mesh_.at(a), mesh_.at(b), mesh_.at(c), point}) < rule_.sliver_degrees ? 1 : 0;
  }
  return saved;
}

bool refiner::prepare_for_sliver(index t, point& position) {
  const std::array<point, 4> corner = corners_of(t);
  const sphere sphere = circumsphere(corner[0], corner[1], corner[2], corner[3]);
  int most = 0;
  for (std::uint64_t k = 0; k < places_tried; ++k) {
    const point place = place_near(sphere, k);
    if (!may_insert(t, place) || !collect(t, place)) continue;
    const double apart = rule_.size.at(place) * apart_factor;
    const bool near = std::any_of(hole_.border().begin(), hole_.border().end(), [&](facet f) {
      const auto corners = mesh_.corners(f);
      return std::any_of(corners.begin(), corners.end(),
                         [&](index v) { return squared_length(mesh_.at(v) - place) < apart * apart; });
    });
    const int saved = near ? 0 : slivers_saved(place);
    if (saved <= most) continue;
    most = saved;
    position = place;
  }
  return most > 0 && collect(t, position);
}

}  // namespace mesh3d
