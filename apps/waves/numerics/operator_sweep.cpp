// SPDX-License-Identifier: Apache-2.0
// The order in which stages of rows are computed.
#include "operator_sweep.hpp"

#include <algorithm>
#include <cstddef>

namespace waves {
namespace {

row_view view_of(const rows& field, int y, int z) { return {field.at(0, y, z), field.steps()}; }

/// Rows that are swept together, so that what their stages share stays in a core's cache.
struct strip {
  int begin = 0, end = 0;
};

/// Rows of a strip, so that its planes take about half of a usual cache of 1 MiB. Each strip computes the stresses of
/// four rows beside it again, which narrow strips would pay for dearly.
int strip_rows(const patch_box& box) {
  constexpr std::ptrdiff_t cache_bytes = 600'000, rows_of_fields = 45, rows_min = 12;
  const std::ptrdiff_t row_bytes = row_length(box.nx) * static_cast<std::ptrdiff_t>(sizeof(double)) * rows_of_fields;
  return static_cast<int>(std::max(rows_min, cache_bytes / row_bytes));
}

stress_rows planes_around(const row_task& row, scratch& room, int y, int z) {
  const bool is_edge = row.z.edge_row >= 0 && row.z.edge_row < first_edge_rows;
  const int first = is_edge ? 0 : z - halo, count = is_edge ? first_edge_points : 2 * halo + 1;
  stress_rows stresses;
  for (int k = 0; k < count; ++k) stresses.rows[k] = room.plane(y, first + k).begin;
  stresses.component = room.plane(y, z).component;
  return stresses;
}

/// Slopes lie behind the stresses of a row.
triple slopes_of(triple stresses) { return {stresses.begin + 3 * stresses.component, stresses.component}; }

slope_rows slopes_around(scratch& room, int y, int z) {
  slope_rows slopes;
  for (int k = 0; k <= 2 * halo; ++k) {
    slopes.side[k] = slopes_of(room.side(y - halo + k)).begin;
    slopes.plane[k] = slopes_of(room.plane(y, z - halo + k)).begin;
  }
  return slopes;
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
    const int place = std::clamp(point, -halo, x.count() - 1 + halo);
    const double s = x.stretch(place);
    profile_.push_back(point >= 0 && point < x.count() ? x.profile(place) : 0);
    taper_.push_back(x.taper(place));
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

namespace {

/// Sweeps through all planes. Rows of scratch are counted from the strip's first one.
class strip_sweep {
 public:
  strip_sweep(const sweep_domain& domain, const rows& field, scratch& room, strip part)
      : domain_(domain), kernels_(*domain.kernels), field_(field), room_(room), part_(part) {}

  void run(row_consumer& consumer) {
    int next_plane = domain_.has_surface() ? 0 : -halo;
    for (int z = 0; z < domain_.box.nz; ++z) {
      const bool is_edge = domain_.has_surface() && z < first_edge_rows;
      const int last_plane = is_edge ? first_edge_points - 1 : z + halo;
      for (; next_plane <= last_plane; ++next_plane) fill_plane(next_plane);
      for (int y = part_.begin - halo; y < part_.begin + halo; ++y) fill_side(y, z);
      for (int y = part_.begin; y < part_.end; ++y) {
        fill_side(y + halo, z);
        compute_row(y, z);
        consumer.take(y, z, room_.sum());
      }
    }
  }

 private:
  void fill_plane(int z) {
    const patch_material& material = *domain_.material;
    for (int y = part_.begin; y < part_.end; ++y) {
      const row_task row = domain_.task(field_, y, z);
      const triple out = room_.plane(y - part_.begin, z);
      if (material.is(row_use::plane_mixed, y, z)) kernels_.plane_stresses(row, out);
      if (material.is(row_use::plane_slopes, y, z)) kernels_.plane_slopes(row, slopes_of(out));
    }
  }
  void fill_side(int y, int z) {
    const patch_material& material = *domain_.material;
    const row_task row = domain_.task(field_, y, z);
    const triple out = room_.side(y - part_.begin);
    if (material.is(row_use::side_mixed, y, z)) kernels_.side_stresses(row, out);
    if (material.is(row_use::side_slopes, y, z)) kernels_.side_slopes(row, slopes_of(out));
  }
  void compute_row(int y, int z) {
    row_task row = domain_.task(field_, y, z);
    row_task line = row;
    if (domain_.sides_move) {
      line.begin -= lanes_max;
      line.end += lanes_max;
    }
    if (domain_.material->is(row_use::uniform, y, z)) {
      kernels_.line_slopes(line, room_.line());
      kernels_.uniform_terms(row, room_.line(), slopes_around(room_, y - part_.begin, z), room_.sum());
      return;
    }
    set_materials_around(row, y, z);
    kernels_.line_stresses(line, room_.line());
    kernels_.x_terms(row, room_.line(), room_.sum());
    kernels_.y_terms(row, sides_around(room_, y - part_.begin), room_.sum());
    kernels_.z_terms(row, planes_around(row, room_, y - part_.begin, z), room_.sum());
  }
  void set_materials_around(row_task& row, int y, int z) const {
    const bool is_edge = row.z.edge_row >= 0;
    const int first = is_edge ? z - row.z.edge_row : z - halo, count = is_edge ? edge_points : 2 * halo + 1;
    for (int k = 0; k < count; ++k) row.material_z[k] = domain_.material->row_at(y, first + k);
    for (int k = 0; k <= 2 * halo; ++k) row.material_y[k] = domain_.material->row_at(y - halo + k, z);
  }

  const sweep_domain& domain_;
  const row_kernels& kernels_;
  const rows& field_;
  scratch& room_;
  strip part_;
};

}  // namespace

void sweep(const sweep_domain& domain, const rows& field, scratch& room, row_consumer& consumer) {
  room.fit(domain.box);
  const int strips = std::max(1, domain.box.ny / strip_rows(domain.box));
  for (int number = 0; number < strips; ++number) {
    const strip part{domain.box.ny * number / strips, domain.box.ny * (number + 1) / strips};
    strip_sweep(domain, field, room, part).run(consumer);
  }
}

}  // namespace waves
