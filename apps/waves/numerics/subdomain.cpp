// SPDX-License-Identifier: Apache-2.0
// The time step of a patch.
#include "subdomain.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "boundary_stencils.hpp"
#include "damping.hpp"
#include "random_state.hpp"

namespace waves {
namespace {

void copy_all(std::span<const double> values, rows& rows) {
  if (values.size() != rows.all().size()) {
    throw std::length_error(
        fmt::format("a patch of {} numbers cannot take {}: they are of another problem, or of "
                    "another cut of it",
                    rows.all().size(), values.size()));
  }
  std::copy(values.begin(), values.end(), rows.all().begin());
}

}  // namespace

/// Makes rows of L u into rows of the acceleration.
class subdomain::accelerator final : public row_consumer {
 public:
  explicit accelerator(subdomain& subdomain) : subdomain_(subdomain) {
    task_.end = computed_length(subdomain.box().nx);
  }
  void take(int y, int z, triple sum) override {
    task_.density_inverse = subdomain_.material_.density_inverse(y, z);
    task_.component = subdomain_.a_.steps().component;
    const double h = subdomain_.problem_->grid.h;
    subdomain_.domain_.kernels->accelerate(task_, 1 / (h * h), sum, subdomain_.a_.at(0, y, z));
  }

 private:
  subdomain& subdomain_;
  advance_task task_;
};

/// Makes rows of L a into rows of the next displacement.
class subdomain::advancer final : public row_consumer {
 public:
  advancer(subdomain& subdomain, scratch& room) : subdomain_(subdomain), old_(room) {
    const double dt = subdomain.problem_->grid.dt, h = subdomain.problem_->grid.h;
    task_.end = computed_length(subdomain.box().nx);
    task_.dt2 = dt * dt;
    task_.factor = dt * dt * dt * dt / 12 / (h * h);
    task_.component = subdomain.a_.steps().component;
  }
  void take(int y, int z, triple sum) override {
    task_.density_inverse = subdomain_.material_.density_inverse(y, z);
    task_.u = subdomain_.displacement().at(0, y, z);
    task_.a = subdomain_.a_.at(0, y, z);
    task_.previous = subdomain_.previous().at(0, y, z);
    const triple old = old_.other();
    if (subdomain_.wants_energy_) std::copy_n(task_.previous, 3 * task_.component - lanes_max, old.begin);
    subdomain_.domain_.kernels->advance(task_, sum);
    if (subdomain_.wants_energy_)
      subdomain_.energies_[static_cast<std::size_t>(z * subdomain_.box().ny + y)] = energy(z, old.begin);
  }

 private:
  [[nodiscard]] double energy(int z, const double* old) const {
    const grid& grid = subdomain_.problem_->grid;
    double sum = 0;
    for (int number = 0; number < 3; ++number) {
      const std::ptrdiff_t place = number * task_.component;
      for (int x = 0; x < subdomain_.box().nx; ++x) {
        const double u = task_.u[place + x];
        sum += (u * u - task_.previous[place + x] * old[place + x]) / task_.density_inverse[x];
      }
    }
    const double norm = grid.top == top_side::free_surface ? norm_weight(subdomain_.box().z + z) : 1;
    return sum * norm * grid.h * grid.h * grid.h / task_.dt2;
  }

  subdomain& subdomain_;
  scratch& old_;
  advance_task task_;
};

subdomain::subdomain(std::shared_ptr<const problem> subject, const patch_box& box)
    : problem_(std::move(subject)), factors_(problem_->grid.x) {
  domain_ = {&problem_->grid, box, &material_, &factors_, problem_->kernels, problem_->exact != nullptr};
  for (rows& each : displacements_) each = rows(box, 3);
  a_ = rows(box, 3);
  if (problem_->exact) exact_ = std::make_unique<exact_data>(*problem_, box);
  material_ = patch_material(*problem_, box);
  set_initial();
  place_sources();
  place_receivers();
  record();
}

void subdomain::set_initial() {
  if (exact_) {
    exact_->set_all(displacement(), 0);
    exact_->set_all(previous(), -problem_->grid.dt);
  } else if (problem_->initial.random) {
    set_random_state(displacement(), domain_, problem_->initial.seed);
    copy_all(std::as_const(*this).displacement().all(), previous());
  }
}

void subdomain::place_sources() {
  const patch_box& box = domain_.box;
  for (const placed_source& each : problem_->sources) {
    placed_source part{each.time, {}, each.place};
    for (source_point point : each.points) {
      if (!box.contains(point.y, point.z)) continue;
      point.y -= box.y;
      point.z -= box.z;
      part.points.push_back(point);
    }
    if (!part.points.empty()) sources_.push_back(std::move(part));
  }
}

void subdomain::place_receivers() {
  const patch_box& box = domain_.box;
  for (std::size_t number = 0; number < problem_->receivers.size(); ++number) {
    const receiver& each = problem_->receivers[number];
    std::vector<recorded_part> rows;
    for (int row = 0; row < each.rows(); ++row) {
      if (box.contains(each.y_of(row), each.z_of(row))) rows.push_back({static_cast<int>(number), row, 1});
    }
    if (std::ssize(rows) == each.rows()) rows = {{static_cast<int>(number), 0, each.rows()}};
    recorded_.insert(recorded_.end(), rows.begin(), rows.end());
  }
}

void subdomain::add_sources(rows& rows, double factor, double (time_function::*part)(double) const) const {
  for (const placed_source& each : sources_) {
    const double amplitude = factor * (each.time.*part)(time());
    for (const source_point& point : each.points) {
      const double inverse = material_.density_inverse(point.y, point.z)[point.x];
      for (int number = 0; number < 3; ++number) {
        rows.at(number, point.y, point.z)[point.x] +=
            amplitude * point.force[static_cast<std::size_t>(number)] * inverse;
      }
    }
  }
}

void subdomain::accelerate(scratch& room) {
  set_ghost_points(domain_, displacement(), exact_ ? exact_->traction(time(), exchanged::displacement) : nullptr);
  accelerator consumer(*this);
  sweep(domain_, displacement(), room, consumer);
  add_sources(a_, 1, &time_function::value);
  if (exact_) {
    exact_->add_force(a_, material_, time(), 1, exchanged::displacement);
    exact_->set_outside(a_, time(), exchanged::acceleration);
  }
  damp(domain_, displacement(), previous(), room);
}

void subdomain::advance(scratch& room) {
  const double dt = problem_->grid.dt, factor = dt * dt * dt * dt / 12;
  set_ghost_points(domain_, a_, exact_ ? exact_->traction(time(), exchanged::acceleration) : nullptr);
  energies_.assign(wants_energy_ ? static_cast<std::size_t>(box().ny * box().nz) : 0, 0.0);
  advancer consumer(*this, room);
  sweep(domain_, a_, room, consumer);
  add_sources(previous(), factor, &time_function::second_derivative);
  if (exact_) exact_->add_force(previous(), material_, time(), factor, exchanged::acceleration);
  ++step_;
  if (exact_) exact_->set_outside(displacement(), time(), exchanged::displacement);
  record();
}

void subdomain::record() {
  for (const recorded_part& part : recorded_) {
    const receiver& receiver = problem_->receivers[static_cast<std::size_t>(part.receiver)];
    for (int component = 0; component < 3; ++component) {
      double sum = motion_of_row(receiver, part.first_row, component);
      for (int row = 1; row < part.rows; ++row) sum += motion_of_row(receiver, part.first_row + row, component);
      records_.push_back(sum);
    }
  }
}

/// A row's part in the displacement of a receiver.
double subdomain::motion_of_row(const receiver& receiver, int row, int component) const {
  const auto& [along_x, along_y, along_z] = receiver.points;
  const int y = receiver.y_of(row), z = receiver.z_of(row);
  const double* values = displacement().at(component, y - domain_.box.y, z - domain_.box.z) + along_x.first;
  double sum = along_x.weights[0] * values[0];
  for (int k = 1; k < along_x.count; ++k) sum += along_x.weights[static_cast<std::size_t>(k)] * values[k];
  return along_y.weights[static_cast<std::size_t>(y - along_y.first)] *
         along_z.weights[static_cast<std::size_t>(z - along_z.first)] * sum;
}

bool subdomain::is_finite() const noexcept {
  constexpr std::uint64_t magnitude = ~std::uint64_t{0} >> 1, infinity = std::uint64_t{0x7ff} << 52;
  std::uint64_t greatest = 0;  // of the bits without the sign, which are in the order of the numbers
  for (int z = 0; z < box().nz; ++z) {
    for (int y = 0; y < box().ny; ++y) {
      for (int number = 0; number < 3; ++number) {
        const double* row = displacement().at(number, y, z);
        for (int x = 0; x < box().nx; ++x) {
          greatest = std::max(greatest, std::bit_cast<std::uint64_t>(row[x]) & magnitude);
        }
      }
    }
  }
  return greatest < infinity;
}

std::vector<std::array<double, 2>> subdomain::row_errors() const {
  if (!exact_) return {};
  return exact_->row_errors(displacement(), time());
}

subdomain_state subdomain::state(bool with_acceleration) const {
  const auto copy = [](const rows& rows) { return std::vector<double>(rows.all().begin(), rows.all().end()); };
  const auto now = static_cast<std::size_t>(step_) % 2;
  return {step_, copy(displacements_[now]), copy(displacements_[1 - now]),
          with_acceleration ? copy(a_) : std::vector<double>(), records_};
}

void subdomain::restore(const subdomain_state& state) {
  step_ = state.step;
  copy_all(state.u, displacement());
  copy_all(state.previous, previous());
  if (!state.a.empty()) copy_all(state.a, a_);
  records_ = state.records;
}

std::size_t subdomain::bytes() const noexcept {
  return displacements_[0].bytes() + displacements_[1].bytes() + a_.bytes() + material_.bytes();
}

}  // namespace waves
