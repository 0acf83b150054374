// SPDX-License-Identifier: Apache-2.0
// The order in which stages of rows are computed.
#include "operator_sweep.hpp"

#include <algorithm>

namespace waves {
namespace {

row_view view_of(const rows& field, int y, int z) { return {field.at(0, y, z), field.steps()}; }

/// Stresses of planes -2 to nz + 1, as far as the rows of a plane need them.
void fill_planes(const sweep_domain& domain, const rows& field, scratch& room, int& next, int last) {
  for (; next <= last; ++next) {
    for (int y = 0; y < domain.box.ny; ++y) {
      domain.kernels->plane_stresses(domain.task(field, y, next), room.plane(y, next));
    }
  }
}

stress_rows planes_around(const row_task& row, scratch& room, int y, int z) {
  const bool is_edge = row.z.edge_row >= 0 && row.z.edge_row < first_edge_rows;
  const int first = is_edge ? 0 : z - halo, count = is_edge ? first_edge_points : 2 * halo + 1;
  stress_rows stresses;
  for (int k = 0; k < count; ++k) stresses.rows[k] = room.plane(y, first + k).begin;
  stresses.component = room.plane(y, z).component;
  return stresses;
}

stress_rows sides_around(scratch& room, int y) {
  stress_rows stresses;
  for (int k = 0; k <= 2 * halo; ++k) stresses.rows[k] = room.side(y - halo + k).begin;
  stresses.component = room.side(y).component;
  return stresses;
}

}  // namespace

line_factors::line_factors(const axis& x) : plain_end_(computed_length(x.count())) {
  const int end = computed_length(x.count()) + pad;
  for (int point = -pad; point < end; ++point) {
    const double s = x.stretch(std::clamp(point, -halo, x.count() - 1 + halo));
    stretch_.push_back(s);
    slope_.push_back(s / 12);
  }
  if (x.layer_at_begin() > 0) {
    plain_begin_ = std::min(computed_length(x.layer_at_begin() + halo), plain_end_);
  }
  if (x.layer_at_end() > 0) {
    const int last = std::max(x.count() - x.layer_at_end() - halo, 0);
    plain_end_ = std::max(last / lanes_max * lanes_max, plain_begin_);
  }
}

material_view patch_material::at(int y, int z) const {
  const auto plane = layered.find(z);
  return {view_of(base, y, z), plane == layered.end() ? row_view{} : view_of(plane->second, y, 0)};
}

row_task sweep_domain::task(const rows& field, int y, int z) const {
  row_task row;
  row.end = computed_length(box.nx);
  row.u = view_of(field, y, z);
  row.material = material->at(y, z);
  row.stretch_x = factors->stretch();
  row.slope_x = factors->slope();
  row.plain_begin = factors->plain_begin();
  row.plain_end = factors->plain_end();
  const int global_y = box.y + y, global_z = box.z + z;
  const auto near = [](const axis& along, int point) { return std::clamp(point, -halo, along.count() - 1 + halo); };
  row.stretch_y = grid->y.stretch(global_y);
  row.z.stretch = grid->z.stretch(global_z);
  for (int k = 0; k <= 2 * halo; ++k) {
    row.stretch_y_near[k] = grid->y.stretch(near(grid->y, global_y - halo + k));
    row.stretch_z_near[k] = grid->z.stretch(near(grid->z, global_z - halo + k));
  }
  row.near_layer_y = grid->y.is_near_layer(global_y);
  row.near_layer_z = grid->z.is_near_layer(global_z);
  if (grid->top == top_side::free_surface && global_z < second_edge_rows) row.z.edge_row = global_z;
  return row;
}

void set_ghost_points(const sweep_domain& domain, rows& field, const rows* traction) {
  if (!domain.has_surface()) return;
  for (int y = 0; y < domain.box.ny; ++y) {
    surface_task row;
    row.end = computed_length(domain.box.nx);
    row.u = view_of(field, y, 0);
    row.material = domain.material->at(y, 0);
    row.slope_x = domain.factors->slope();
    row.stretch_y = domain.grid->y.stretch(domain.box.y + y);
    if (traction != nullptr) {
      row.traction = traction->at(0, y, 0);
      row.traction_component = traction->steps().component;
    }
    row.ghost = field.at(0, y, -1);
    domain.kernels->surface(row);
  }
}

void sweep(const sweep_domain& domain, const rows& field, scratch& room, row_consumer& consumer) {
  const row_kernels& kernels = *domain.kernels;
  const int ny = domain.box.ny, nz = domain.box.nz;
  room.fit(domain.box);
  int next_plane = domain.has_surface() ? 0 : -halo;
  for (int z = 0; z < nz; ++z) {
    const bool is_edge = domain.has_surface() && z < first_edge_rows;
    fill_planes(domain, field, room, next_plane, is_edge ? first_edge_points - 1 : z + halo);
    for (int y = -halo; y < halo; ++y) kernels.side_stresses(domain.task(field, y, z), room.side(y));
    for (int y = 0; y < ny; ++y) {
      kernels.side_stresses(domain.task(field, y + halo, z), room.side(y + halo));
      row_task row = domain.task(field, y, z);
      if (domain.sides_move) {
        row.begin -= lanes_max;
        row.end += lanes_max;
      }
      kernels.line_stresses(row, room.line());
      row = domain.task(field, y, z);
      kernels.x_terms(row, room.line(), room.sum());
      kernels.y_terms(row, sides_around(room, y), room.sum());
      kernels.z_terms(row, planes_around(row, room, y, z), room.sum());
      consumer.take(y, z, room.sum());
    }
  }
}

}  // namespace waves
