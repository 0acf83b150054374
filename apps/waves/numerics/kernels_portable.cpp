// SPDX-License-Identifier: Apache-2.0
// The stages of a row for the instructions that every processor of its kind has.
#include "damping_loops.hpp"
#include "edge_loops.hpp"
#include "kernel_sets.hpp"
#include "uniform_loops.hpp"

namespace waves {
namespace {

using vec = double __attribute__((vector_size(16)));

void plane_stresses_portable(const row_task& row, triple out) {
  if (row.material.layered) return plane_stresses<vec, true>(row, out);
  plane_stresses<vec, false>(row, out);
}

void side_stresses_portable(const row_task& row, triple out) {
  const bool layered = row.material.layered, edge = is_first_edge(row.z);
  if (layered) return edge ? side_stresses<vec, true, true>(row, out) : side_stresses<vec, true, false>(row, out);
  edge ? side_stresses<vec, false, true>(row, out) : side_stresses<vec, false, false>(row, out);
}

void line_stresses_portable(const row_task& row, triple out) {
  const bool layered = row.material.layered, edge = is_first_edge(row.z);
  if (layered) return edge ? line_stresses<vec, true, true>(row, out) : line_stresses<vec, true, false>(row, out);
  edge ? line_stresses<vec, false, true>(row, out) : line_stresses<vec, false, false>(row, out);
}

void x_terms_portable(const row_task& row, triple line, triple sum) {
  if (row.material.layered) return x_terms<vec, true>(row, line, sum);
  x_terms<vec, false>(row, line, sum);
}

void y_terms_portable(const row_task& row, const stress_rows& side, triple sum) {
  const bool layered = row.material.layered, near = row.near_layer_y;
  if (layered) return near ? y_terms<vec, true, true>(row, side, sum) : y_terms<vec, true, false>(row, side, sum);
  near ? y_terms<vec, false, true>(row, side, sum) : y_terms<vec, false, false>(row, side, sum);
}

void z_terms_portable(const row_task& row, const stress_rows& planes, triple sum) {
  if (row.z.edge_row >= 0) return z_terms_at_edge<vec>(row, planes, sum);
  row.near_layer_z ? z_terms_inside<vec, true>(row, planes, sum) : z_terms_inside<vec, false>(row, planes, sum);
}

void line_slopes_portable(const row_task& row, triple out) { line_slopes<vec>(row, out); }

void side_slopes_portable(const row_task& row, triple out) { side_slopes<vec>(row, out); }

void plane_slopes_portable(const row_task& row, triple out) { plane_slopes<vec>(row, out); }

void uniform_terms_portable(const row_task& row, triple line, const slope_rows& slopes, triple sum) {
  if (row.near_layer_y || row.near_layer_z) return uniform_terms<vec, true>(row, line, slopes, sum);
  uniform_terms<vec, false>(row, line, slopes, sum);
}

void accelerate_portable(const advance_task& row, double per_h2, triple sum, double* a) {
  accelerate_row<vec>(row, per_h2, sum, a);
}

void advance_portable(const advance_task& row, triple sum) { advance_row<vec>(row, sum); }

void surface_portable(const surface_task& row) {
  if (row.material.layered) return surface_row<vec, true>(row);
  surface_row<vec, false>(row);
}

void damp_x_portable(const damping_task& row, triple out) { damp_row_x<vec>(row, out); }

void damp_y_portable(const damping_task& row, triple out) { damp_row_across<vec, &strides::row>(row, out); }

void damp_z_portable(const damping_task& row, triple out) { damp_row_across<vec, &strides::plane>(row, out); }

void apply_damping_portable(const damping_task& row, triple damping, double* previous) {
  apply_damping_row<vec>(row, damping, previous);
}

}  // namespace

const row_kernels* portable_kernels() noexcept {
  static constexpr row_kernels kernels{
      "portable",           plane_stresses_portable, side_stresses_portable, line_stresses_portable,
      x_terms_portable,     y_terms_portable,        z_terms_portable,       line_slopes_portable,
      side_slopes_portable, plane_slopes_portable,   uniform_terms_portable, accelerate_portable,
      advance_portable,     surface_portable,        damp_x_portable,        damp_y_portable,
      damp_z_portable,      apply_damping_portable};
  return &kernels;
}

}  // namespace waves
