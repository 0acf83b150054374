// SPDX-License-Identifier: Apache-2.0
// Orders of accuracy, and the energy that steps keep.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "numerics/speed_bound.hpp"
#include "numerics/subdomain.hpp"
#include "output/report.hpp"
#include "setup/cases.hpp"

namespace waves {
namespace {

double error_of(const description& asked) {
  check(asked);
  const auto rule = std::make_shared<const problem>(make_problem(asked, best_kernels()));
  subdomain fields(rule, {0, 0, rule->grid.x.count(), rule->grid.y.count(), rule->grid.z.count()});
  scratch room;
  for (int step = 0; step < rule->steps; ++step) {
    fields.accelerate(room);
    fields.advance(room);
  }
  double error = 0, norm = 0;
  for (const auto& [of_error, of_solution] : fields.row_errors()) {
    error += of_error;
    norm += of_solution;
  }
  return std::sqrt(error / norm);
}

void expect_fourth_order(known_case known_case, double coarsest) {
  std::vector<double> errors;
  for (double h = coarsest; errors.size() < 3; h /= std::sqrt(2.0)) {
    description asked = describe(known_case, h, {});
    for (double& each : asked.size) each = std::round(each / h) * h;
    errors.push_back(error_of(asked));
  }
  // Each grid is finer by the root of 2, so that three of them take little time.
  EXPECT_GE(std::log2(errors[0] / errors[2]), 3.8) << errors[0] << ' ' << errors[1] << ' ' << errors[2];
}

TEST(time_step, is_of_fourth_order_for_plane_waves) { expect_fourth_order(known_case::plane_wave, 100); }
TEST(time_step, is_of_fourth_order_with_a_free_surface) { expect_fourth_order(known_case::rayleigh, 90); }
TEST(time_step, is_of_fourth_order_in_a_smooth_material) { expect_fourth_order(known_case::manufactured, 1.0 / 20); }

/// The description of a box of 16 x 16 x 16 points with one material.
description box_of(const isotropic& rock) {
  description asked;
  asked.h = 1;
  asked.time = 100 / std::sqrt(rock.normal() / rock.rho);  // so that rounding to whole steps hardly shortens them
  asked.size = {15, 15, 15};
  asked.layers = 0;
  asked.material.layers = {{0, rock}};
  asked.initial.random = true;
  return asked;
}

/// The greatest eigenvalue of -L/rho, times dt^2: steps are stable up to 12. By the power method, from below.
double greatest_eigenvalue(const description& asked) {
  check(asked);
  const auto rule = std::make_shared<const problem>(make_problem(asked, best_kernels()));
  const patch_box box{0, 0, rule->grid.x.count(), rule->grid.y.count(), rule->grid.z.count()};
  subdomain fields(rule, box);
  scratch room;
  double greatest = 0;
  for (int round = 0; round < 200; ++round) {
    fields.accelerate(room);
    double sum = 0;
    for (const double each : fields.acceleration().all()) sum += each * each;
    greatest = std::sqrt(sum);  // from the second round on the displacement has the norm 1
    for (int z = 0; z < box.nz; ++z) {
      for (int y = 0; y < box.ny; ++y) {
        const double* source = fields.acceleration().at(0, y, z);
        double* target = fields.displacement().at(0, y, z);
        for (int k = 0; k < 3 * fields.acceleration().steps().component - lanes_max; ++k) {
          target[k] = -source[k] / greatest;
        }
      }
    }
  }
  return greatest * rule->grid.dt * rule->grid.dt;
}

const isotropic stiff = isotropic::of_speeds(6000, 3500, 2700), light = isotropic::of_speeds(1000, 500, 300);

TEST(time_step, is_stable_where_light_rock_lies_beside_stiff_rock) {
  description asked = box_of(stiff);
  asked.material.blocks = {{{4, 4, 4}, {9, 9, 9}, light}};
  EXPECT_LE(greatest_eigenvalue(asked), 12);
  asked.material.blocks = {{{6, 6, 0}, {6, 6, 0}, light}};
  EXPECT_LE(greatest_eigenvalue(asked), 12);
  asked = box_of(light);
  asked.material.layers.push_back({5.2, stiff});
  EXPECT_LE(greatest_eigenvalue(asked), 12);
}

TEST(time_step, is_stable_in_a_raster_of_light_and_stiff_points) {
  description asked = box_of(stiff);
  asked.material.points = {{16, 16, 16}, {0, 0, 0}, {1, 1, 1}, {}};
  for (int k = 0; k < 16 * 16 * 16; ++k) {
    asked.material.points.materials.push_back((k + k / 16 + k / 256) % 2 == 0 ? stiff : light);
  }
  EXPECT_LE(greatest_eigenvalue(asked), 12);
}

TEST(time_step, is_stable_under_a_free_surface_where_shear_waves_are_slow) {
  for (const double ratio : {1.2, 3.0, 4.0, 8.0}) {
    const description asked = box_of(isotropic::of_speeds(ratio, 1, 1));
    EXPECT_LE(greatest_eigenvalue(asked), 12) << ratio;
  }
}

TEST(time_step, is_that_of_the_fastest_material_where_contrasts_are_usual) {
  const auto expect_fastest = [](const description& asked, double vp, double vs) {
    EXPECT_NEAR(greatest_speed_squared(asked.material, asked.top) / (vp * vp + 2 * vs * vs), 1, 1e-15) << asked.name;
  };
  description asked = describe(known_case::loh1, 100, {});
  asked.material.h = asked.h;
  expect_fastest(asked, 6000, 3464);
  asked = box_of(isotropic::of_speeds(3000, 1500, 2200));
  asked.material.h = asked.h = 50;
  asked.material.blocks = {{{800, 900, 0}, {1300, 1500, 300}, isotropic::of_speeds(1500, 800, 1900)}};
  expect_fastest(asked, 3000, 1500);
  asked = box_of(isotropic::of_speeds(2000, 900, 1700));  // sediment above granite
  asked.material.layers.push_back({5, isotropic::of_speeds(5500, 3200, 2650)});
  expect_fastest(asked, 5500, 3200);
}

TEST(time_step, does_not_go_on_with_the_state_of_a_box_of_another_size) {
  const auto rule = std::make_shared<const problem>(make_problem(box_of(stiff), best_kernels()));
  subdomain fields(rule, {0, 0, 16, 16, 16}), smaller(rule, {0, 0, 16, 16, 15});
  EXPECT_NO_THROW(fields.restore(fields.state(true)));
  EXPECT_THROW(fields.restore(smaller.state(true)), std::length_error);
}

TEST(time_step, records_receivers_from_the_beginning_on) {
  description asked = box_of(stiff);
  asked.receivers = {{"a", {7, 8, 9}}};
  const auto rule = std::make_shared<const problem>(make_problem(asked, best_kernels()));
  subdomain fields(rule, {0, 0, 16, 16, 16});
  ASSERT_EQ(fields.records().size(), 3u);
  for (int number = 0; number < 3; ++number) {
    const double value = fields.displacement().at(number, 8, 9)[7];
    EXPECT_NE(value, 0);
    EXPECT_EQ(fields.records()[static_cast<std::size_t>(number)], value);
  }
}

/// A receiver's displacement at first, from the parts that subdomains of a cut record of it.
double motion_of(const std::shared_ptr<const problem>& rule, const std::vector<patch_box>& boxes, std::size_t number) {
  std::map<int, double> parts;
  for (const patch_box& box : boxes) {
    const subdomain fields(rule, box);
    for (std::size_t k = 0; k < fields.recorded().size(); ++k) {
      parts[fields.recorded()[k].first_row] = fields.records()[3 * k + number];
    }
  }
  double sum = parts.begin()->second;
  for (auto part = std::next(parts.begin()); part != parts.end(); ++part) sum += part->second;
  return sum;
}

TEST(time_step, records_a_receiver_between_points_with_the_same_bits_for_any_cut) {
  description asked = describe(known_case::plane_wave, 50, {});
  asked.receivers = {{"a", {1013, 777, 404}}};
  const auto rule = std::make_shared<const problem>(make_problem(asked, best_kernels()));
  const int count = rule->grid.x.count();
  const patch_box whole{0, 0, count, count, count};
  const std::vector<patch_box> four{{0, 0, count, 16, 9},
                                    {16, 0, count, count - 16, 9},
                                    {0, 9, count, 16, count - 9},
                                    {16, 9, count, count - 16, count - 9}};
  const vector3 exact = asked.exact->at(asked.receivers[0].place).displacement[0];  // at the time 0
  for (std::size_t number = 0; number < 3; ++number) {
    const double value = motion_of(rule, {whole}, number);
    EXPECT_EQ(motion_of(rule, four, number), value);
    EXPECT_NEAR(value / exact[number], 1, 1e-4) << number;
  }
}

TEST(time_step, finds_a_displacement_that_is_no_number_or_infinite) {
  const auto rule = std::make_shared<const problem>(make_problem(box_of(stiff), best_kernels()));
  subdomain fields(rule, {0, 0, 16, 16, 16});
  EXPECT_TRUE(fields.is_finite());
  for (const double bad : {std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    double& value = fields.displacement().at(2, 15, 15)[15];
    value = bad;
    EXPECT_FALSE(fields.is_finite()) << bad;
    value = -1e308;
    EXPECT_TRUE(fields.is_finite());
  }
}

TEST(time_step, keeps_the_energy_in_a_random_material) {
  description asked;
  asked.h = 1;
  asked.time = 150;
  asked.size = {15, 16, 17};
  asked.layers = 0;
  asked.material.layers = {{0, isotropic::of_speeds(2, 1, 1)}};
  asked.material.kind = variation::random;
  asked.initial.random = true;
  check(asked);
  const auto rule = std::make_shared<const problem>(make_problem(asked, best_kernels()));
  subdomain fields(rule, {0, 0, 16, 17, 18});
  scratch room;
  double first = 0, drift = 0;
  for (int step = 0; step < rule->steps; ++step) {
    fields.measure_energy(step % 20 == 0);
    fields.accelerate(room);
    fields.advance(room);
    if (step % 20 != 0) continue;
    const double energy = std::accumulate(fields.row_energies().begin(), fields.row_energies().end(), 0.0);
    if (first == 0) first = energy;
    drift = std::max(drift, std::abs(energy / first - 1));
  }
  EXPECT_GT(first, 0);
  EXPECT_LT(drift, 1e-11);
}

}  // namespace
}  // namespace waves
