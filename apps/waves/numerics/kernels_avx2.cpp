// SPDX-License-Identifier: Apache-2.0
// The stages of a row for AVX2.
#include "damping_loops.hpp"
#include "edge_loops.hpp"
#include "kernel_sets.hpp"
#include "uniform_loops.hpp"

namespace waves {
#if defined(__x86_64__)
namespace {

using vec = double __attribute__((vector_size(32)));

[[gnu::target("avx2")]] void plane_stresses_avx2(const row_task& row, triple out) {
  if (row.material.layered) return plane_stresses<vec, true>(row, out);
  plane_stresses<vec, false>(row, out);
}

[[gnu::target("avx2")]] void side_stresses_avx2(const row_task& row, triple out) {
  const bool layered = row.material.layered, edge = is_first_edge(row.z);
  if (layered) return edge ? side_stresses<vec, true, true>(row, out) : side_stresses<vec, true, false>(row, out);
  edge ? side_stresses<vec, false, true>(row, out) : side_stresses<vec, false, false>(row, out);
}

[[gnu::target("avx2")]] void line_stresses_avx2(const row_task& row, triple out) {
  const bool layered = row.material.layered, edge = is_first_edge(row.z);
  if (layered) return edge ? line_stresses<vec, true, true>(row, out) : line_stresses<vec, true, false>(row, out);
  edge ? line_stresses<vec, false, true>(row, out) : line_stresses<vec, false, false>(row, out);
}

[[gnu::target("avx2")]] void x_terms_avx2(const row_task& row, triple line, triple sum) {
  if (row.material.layered) return x_terms<vec, true>(row, line, sum);
  x_terms<vec, false>(row, line, sum);
}

[[gnu::target("avx2")]] void y_terms_avx2(const row_task& row, const stress_rows& side, triple sum) {
  const bool layered = row.material.layered, near = row.near_layer_y;
  if (layered) return near ? y_terms<vec, true, true>(row, side, sum) : y_terms<vec, true, false>(row, side, sum);
  near ? y_terms<vec, false, true>(row, side, sum) : y_terms<vec, false, false>(row, side, sum);
}

[[gnu::target("avx2")]] void z_terms_avx2(const row_task& row, const stress_rows& planes, triple sum) {
  if (row.z.edge_row >= 0) return z_terms_at_edge<vec>(row, planes, sum);
  row.near_layer_z ? z_terms_inside<vec, true>(row, planes, sum) : z_terms_inside<vec, false>(row, planes, sum);
}

[[gnu::target("avx2")]] void line_slopes_avx2(const row_task& row, triple out) { line_slopes<vec>(row, out); }

[[gnu::target("avx2")]] void side_slopes_avx2(const row_task& row, triple out) { side_slopes<vec>(row, out); }

[[gnu::target("avx2")]] void plane_slopes_avx2(const row_task& row, triple out) { plane_slopes<vec>(row, out); }

[[gnu::target("avx2")]] void uniform_terms_avx2(const row_task& row, triple line, const slope_rows& slopes,
                                                triple sum) {
  if (row.near_layer_y || row.near_layer_z) return uniform_terms<vec, true>(row, line, slopes, sum);
  uniform_terms<vec, false>(row, line, slopes, sum);
}

[[gnu::target("avx2")]] void accelerate_avx2(const advance_task& row, double per_h2, triple sum, double* a) {
  accelerate_row<vec>(row, per_h2, sum, a);
}

[[gnu::target("avx2")]] void advance_avx2(const advance_task& row, triple sum) { advance_row<vec>(row, sum); }

[[gnu::target("avx2")]] void surface_avx2(const surface_task& row) {
  if (row.material.layered) return surface_row<vec, true>(row);
  surface_row<vec, false>(row);
}

[[gnu::target("avx2")]] void damp_x_avx2(const damping_task& row, triple out) { damp_row_x<vec>(row, out); }

[[gnu::target("avx2")]] void damp_y_avx2(const damping_task& row, triple out) {
  damp_row_across<vec, &strides::row>(row, out);
}

[[gnu::target("avx2")]] void damp_z_avx2(const damping_task& row, triple out) {
  damp_row_across<vec, &strides::plane>(row, out);
}

[[gnu::target("avx2")]] void apply_damping_avx2(const damping_task& row, triple damping, double* previous) {
  apply_damping_row<vec>(row, damping, previous);
}

}  // namespace

const row_kernels* avx2_kernels() noexcept {
  static constexpr row_kernels kernels{"avx2",           plane_stresses_avx2, side_stresses_avx2, line_stresses_avx2,
                                       x_terms_avx2,     y_terms_avx2,        z_terms_avx2,       line_slopes_avx2,
                                       side_slopes_avx2, plane_slopes_avx2,   uniform_terms_avx2, accelerate_avx2,
                                       advance_avx2,     surface_avx2,        damp_x_avx2,        damp_y_avx2,
                                       damp_z_avx2,      apply_damping_avx2};
  return __builtin_cpu_supports("avx2") ? &kernels : nullptr;
}
#else
const row_kernels* avx2_kernels() noexcept { return nullptr; }
#endif

}  // namespace waves
