// SPDX-License-Identifier: Apache-2.0
// Steps of a patch.
#include "parallel/patch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "numerics/digest.hpp"
#include "parallel/simulated_costs.hpp"

namespace waves {

patch_data& patch::data(nacre::context& ctx) {
  world& world = ctx.local(home_);
  if (!data_) {
    data_ = std::make_shared<patch_data>(world.of(), world.patches(), at_y_, at_z_);
    if (packed_) data_->restore(*packed_);
    packed_.reset();
    world.enter(at_y_ + world.patches().y() * at_z_, data_);
  }
  data_->reopen();  // an image may have been taken
  return *data_;
}

void patch::run_until(nacre::context& ctx, array all, int step, bool energy) {
  all_ = all;
  until_ = step;
  energy_ = energy;
  go_on(ctx);
}

void patch::halo(nacre::context& ctx, std::uint32_t exchange, std::uint32_t source, nacre::buffer rows) {
  if (ctx.local(home_).is_simulated()) ctx.charge(static_cast<double>(rows.size()) * copied_byte_seconds);
  if (data(ctx).take(exchange, source, std::as_const(rows).as<double>())) go_on(ctx);
}

void patch::go_on(nacre::context& ctx) {
  patch_data& patch_data = data(ctx);
  world& world = ctx.local(home_);
  while (patch_data.fields().step() < until_ && patch_data.consume(exchange_)) {
    compute(ctx, world);
    ++exchange_;
    send_halos(ctx, world);
  }
}

void patch::compute(nacre::context& ctx, world& world) {
  subdomain& fields = data_->fields();
  std::unique_ptr<scratch> room = world.take_scratch();
  if (exchange_ % 2 == 0) {
    fields.accelerate(*room);
  } else {
    fields.measure_energy(energy_ && fields.step() + 1 == until_);
    fields.advance(*room);
    if (fields.step() == until_ && !fields.is_finite()) ctx.send<&world::mark_unstable>(home_[nacre::rank_id{0}]);
  }
  world.give_back(std::move(room));
  if (world.is_simulated()) ctx.charge(half_step_seconds(fields));
}

void patch::send_halos(nacre::context& ctx, world& world) {
  subdomain& fields = data_->fields();
  const rows& field = data_->field_of(exchange_);
  for (std::size_t number = 0; number < directions.size(); ++number) {
    if (!data_->has_neighbour(number)) continue;
    const int y = at_y_ + directions[number].y, z = at_z_ + directions[number].z;
    const auto source = static_cast<std::uint32_t>(opposite(number));
    const auto neighbour = all_[{z, y}];
    const row_range range = rows_to(fields.box(), directions[number]);
    const std::size_t bytes = packed_size(range, field) * sizeof(double);
    if (world.is_simulated()) ctx.charge(static_cast<double>(bytes) * copied_byte_seconds);
    if (const auto patch_data = world.find(y + world.patches().y() * z)) {
      if (const auto is_last = patch_data->take_rows(exchange_, source, field, fields.box())) {
        if (*is_last) ctx.send<&patch::go_on>(neighbour);
        continue;
      }
    }
    nacre::buffer packed(bytes);
    pack(field, range, packed.as<double>());
    ctx.send<&patch::halo>(neighbour, exchange_, source, std::move(packed));
  }
}

std::uint64_t patch::digest(nacre::context& ctx) { return digest_of(data(ctx).fields()); }

std::vector<receiver_record> patch::records(nacre::context& ctx) {
  const subdomain& fields = data(ctx).fields();
  const std::vector<recorded_part>& parts = fields.recorded();
  std::vector<receiver_record> result;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    receiver_record& record = result.emplace_back(receiver_record{parts[k].receiver, parts[k].first_row, {}});
    for (std::size_t index = 3 * k; index < fields.records().size(); index += 3 * parts.size()) {
      for (std::size_t component = 0; component < 3; ++component) {
        record.values.push_back(fields.records()[index + component]);
      }
    }
  }
  return result;
}

std::vector<std::array<double, 2>> patch::errors(nacre::context& ctx) { return data(ctx).fields().row_errors(); }

std::vector<double> patch::energies(nacre::context& ctx) { return data(ctx).fields().row_energies(); }

plane_part patch::plane(nacre::context& ctx, int axis, int index) {
  const subdomain& fields = data(ctx).fields();
  const patch_box& box = fields.box();
  const bool is_level = axis == 2;
  const int place = index - (is_level ? box.z : box.y), count = is_level ? box.nz : box.ny;
  plane_part part{is_level ? box.y : box.z, {}};
  if (place < 0 || place >= count) return part;
  for (int row = 0; row < (is_level ? box.ny : box.nz); ++row) {
    for (int x = 0; x < box.nx; ++x) {
      for (int component = 0; component < 3; ++component) {
        const double* source = is_level ? fields.displacement().at(component, row, place)
                                        : fields.displacement().at(component, place, row);
        part.values.push_back(static_cast<float>(source[x]));
      }
    }
  }
  return part;
}

std::uint64_t patch::bytes(nacre::context& ctx) { return data(ctx).fields().bytes(); }

double patch::migration_cost() const {
  constexpr double seconds_a_byte = 1e-9;
  return data_ ? static_cast<double>(data_->fields().bytes()) * seconds_a_byte : 0;
}

}  // namespace waves
