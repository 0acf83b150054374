// SPDX-License-Identifier: Apache-2.0
// The operator L u = div sigma(u) along one row. A row is computed in stages, which the sweep over a patch calls.
// Each stage is compiled for several instruction sets that give the same bits. Lengths are in units of h, so results
// are L u times h^2.
#pragma once

#include <cstddef>
#include <span>

#include "boundary_stencils.hpp"
#include "rows.hpp"

namespace waves {

/// A row of a field with its neighbours.
struct row_view {
  const double* begin = nullptr;  ///< the first component
  strides steps;
};

/// The material of a row: c33 = lambda + 2 mu, c44 = mu, 1/rho; with an interface, `layered`, also c11, c12, c13, c66.
/// Elsewhere it is isotropic.
struct material_view {
  const double* begin = nullptr;
  std::ptrdiff_t component = 0;  ///< doubles from one of these to the next
  bool layered = false;
};

/// Derivatives along z at this row: as inside, times `stretch`; near the surface by a row of boundary_stencils.hpp.
struct vertical {
  double stretch = 1;
  int edge_row = -1;  ///< row of the tables of boundary_stencils.hpp; -1 inside
};

/// What stages of one row have in common.
struct row_task {
  int begin = 0, end = 0;  ///< points along x, multiples of lanes_max
  row_view u;
  material_view material;
  const double* material_y[2 * halo + 1] = {};  ///< the materials at rows -2 to 2
  const double* material_z[edge_points] = {};   ///< at planes -2 to 2, or in an edge row at planes 0 to 7
  const double* stretch_x = nullptr;            ///< s at each point along x, with halos
  const double* slope_x = nullptr;              ///< s/12, the factor of first derivatives
  int plain_begin = 0, plain_end = 0;           ///< points, multiples of lanes_max, where s and its neighbours are 1
  double stretch_y = 1;
  double stretch_y_near[2 * halo + 1] = {1, 1, 1, 1, 1};  ///< s at rows -2 to 2
  double stretch_z_near[2 * halo + 1] = {1, 1, 1, 1, 1};
  bool near_layer_y = false, near_layer_z = false;
  vertical z;
};

/// Three rows that a stage reads or writes, one for each component, `component` doubles apart.
struct triple {
  double* begin = nullptr;
  std::ptrdiff_t component = 0;
};

/// The rows of stresses around a row, from which derivatives are computed: `rows[k]` is the row at distance k - 2; for
/// a row at the edge it is the row in plane k.
struct stress_rows {
  const double* rows[edge_points] = {};
  std::ptrdiff_t component = 0;
};

/// Slopes of the rows -2 to 2 along y and along z.
struct slope_rows {
  const double* side[2 * halo + 1] = {};
  const double* plane[2 * halo + 1] = {};
};

/// The new displacement of a row.
struct advance_task {
  int begin = 0, end = 0;
  double dt2 = 0, factor = 0;  ///< dt^2, dt^4/12/h^2
  const double* density_inverse = nullptr;
  const double* u = nullptr;
  const double* a = nullptr;
  double* previous = nullptr;  ///< becomes the new displacement
  std::ptrdiff_t component = 0;
};

/// Values above the surface that leave it without traction, or with a given one.
struct surface_task {
  int begin = 0, end = 0;
  row_view u;  ///< on the surface
  material_view material;
  const double* slope_x = nullptr;
  double stretch_y = 1;
  const double* traction = nullptr;  ///< times h, three components; null: none
  std::ptrdiff_t traction_component = 0;
  double* ghost = nullptr;  ///< components as in u
};

/// The damping of a row along one axis; see damping.hpp.
struct damping_task {
  int begin = 0, end = 0;
  row_view u, previous;
  const double* density_inverse[3] = {};  ///< of this row, between its neighbours along y or z
  double factor = 0;
  double profiles[3] = {};            ///< at neighbours along y or z
  const double* line = nullptr;       ///< along x: s; else the taper, at each point along x
  const double* profile_x = nullptr;  ///< along x: p
};

struct row_kernels {
  const char* name;
  /// c44 w_x, c44 w_y, c13 (u_x + v_y) of a row, for derivatives along z.
  void (*plane_stresses)(const row_task&, triple out);
  /// c66 v_x, c12 u_x + c13 w_z, c44 v_z, for derivatives along y.
  void (*side_stresses)(const row_task&, triple out);
  /// c12 v_y + c13 w_z, c66 u_y, c44 u_z, for derivatives along x.
  void (*line_stresses)(const row_task&, triple out);
  /// Set `sum` to, and add to it, what derivatives along an axis give.
  void (*x_terms)(const row_task&, triple line, triple sum);
  void (*y_terms)(const row_task&, const stress_rows& side, triple sum);
  void (*z_terms)(const row_task&, const stress_rows& plane, triple sum);
  /// The same for a row of one material among such rows: slopes v_y + w_z, u_x + w_z, u_x + v_y are read instead of
  /// stresses, and all terms are summed at once.
  void (*line_slopes)(const row_task&, triple out);
  void (*side_slopes)(const row_task&, triple out);
  void (*plane_slopes)(const row_task&, triple out);
  void (*uniform_terms)(const row_task&, triple line, const slope_rows& slopes, triple sum);
  /// a = sum / rho / h^2
  void (*accelerate)(const advance_task&, double per_h2, triple sum, double* a);
  void (*advance)(const advance_task&, triple sum);
  void (*surface)(const surface_task&);
  /// Sets `out` to the damping along x; adds that along y and z.
  void (*damp_x)(const damping_task&, triple out);
  void (*damp_y)(const damping_task&, triple out);
  void (*damp_z)(const damping_task&, triple out);
  /// previous += damping / rho
  void (*apply_damping)(const damping_task&, triple damping, double* previous);
};

/// Those of an instruction set, by the names "portable", "avx2", "avx512". Null where this processor lacks it.
[[nodiscard]] const row_kernels* kernels_named(const char* name) noexcept;
/// The fastest that this processor has.
[[nodiscard]] const row_kernels& best_kernels() noexcept;

}  // namespace waves
