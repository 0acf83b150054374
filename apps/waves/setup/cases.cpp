// SPDX-License-Identifier: Apache-2.0
// Builds the known cases.
#include "setup/cases.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "numerics/manufactured.hpp"

namespace waves {
namespace {

description loh1(double h, const loh1_options& options) {
  constexpr double km = 1000;
  description asked;
  asked.name = "loh1";
  asked.h = h;
  asked.time = 9;
  position source{15 * km, 15 * km, 2 * km}, receiver{21 * km, 23 * km, 0};
  asked.size = {30 * km, 30 * km, 17 * km};
  if (options.is_near) {
    for (position* each : {&source, &receiver}) *each = {(*each)[0] - 10 * km, (*each)[1] - 10 * km, (*each)[2]};
    asked.size = {16 * km, 18 * km, 9 * km};
  }
  asked.material.layers = {{0, isotropic::of_speeds(4000, 2000, 2600)},
                           {1 * km, isotropic::of_speeds(6000, 3464, 2700)}};
  point_source moment;
  moment.place = source;
  moment.moment[3] = 1e18;
  moment.time = {time_function::shape::gaussian, 6 * options.sigma, options.sigma};
  asked.sources = {moment};
  asked.receivers = {{"loh1", receiver}};
  return asked;
}

description lamb(double h) {
  const lamb_setting setting = lamb_of();
  description asked;
  asked.name = "lamb";
  asked.h = h;
  asked.time = 2.2;
  asked.size = {2000, 1600, 1000};
  asked.material.layers = {{0, setting.material}};
  point_source push;
  push.place = {480, 800, 0};
  push.force[2] = setting.force;
  push.time = setting.time;
  asked.sources = {push};
  asked.receivers = {{"lamb", {480 + setting.distance, 800, 0}}};
  return asked;
}

/// Cubes whose sides move as the exact solution.
description exact_case(const char* name, double h, double side, double time,
                       std::shared_ptr<const harmonic_motion> exact) {
  description asked;
  asked.name = name;
  asked.h = h;
  asked.time = time;
  asked.size = {side, side, side};
  asked.layers = 0;
  asked.exact = std::move(exact);
  return asked;
}

const isotropic rock = isotropic::of_speeds(2000, 1000, 2000);

}  // namespace

double usual_h(known_case known_case) noexcept {
  switch (known_case) {
    case known_case::loh1:
      return 100;
    case known_case::lamb:
      return 40;
    case known_case::plane_wave:
      return 125;
    case known_case::rayleigh:
      return 100;
    case known_case::manufactured:
      return 1.0 / 16;
    case known_case::none:
      break;
  }
  return 0;
}

lamb_setting lamb_of() noexcept {
  lamb_setting setting;
  setting.material = isotropic::of_speeds(1000 * std::sqrt(3.0), 1000, 1500);
  setting.time = {time_function::shape::smooth_bump, 0, 1};
  return setting;
}

description describe(known_case known_case, double h, const loh1_options& options) {
  switch (known_case) {
    case known_case::lamb:
      return lamb(h);
    case known_case::plane_wave: {
      description asked = exact_case("plane-wave", h, 2000, 0.7, std::make_shared<plane_waves>(rock, 1500));
      asked.material.layers = {{0, rock}};
      asked.top = top_side::as_other_sides;
      return asked;
    }
    case known_case::rayleigh: {
      description asked = exact_case("rayleigh", h, 2000, 1.5, std::make_shared<rayleigh_wave>(rock, 1000));
      asked.material.layers = {{0, rock}};
      return asked;
    }
    case known_case::manufactured: {
      description asked = exact_case("manufactured", h, 1, 0.3, std::make_shared<manufactured_solution>());
      asked.material.kind = variation::waves;
      return asked;
    }
    case known_case::loh1:
    case known_case::none:
      break;
  }
  return loh1(h, options);
}

}  // namespace waves
