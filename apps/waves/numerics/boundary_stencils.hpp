// SPDX-License-Identifier: Apache-2.0
// The operators next to the free surface, which sum by parts (Sjogreen and Petersson, J. Sci. Comput. 52 (2012) 17).
// Points are counted from 0, the point on the surface, downwards; the point above it is the ghost point.
#pragma once

#include <array>

namespace waves {

inline constexpr int edge_points = 8;        ///< points that the rows of this page read
inline constexpr int first_edge_rows = 4;    ///< rows whose first derivative differs from the one inside
inline constexpr int second_edge_rows = 6;   ///< rows whose second derivative does
inline constexpr int first_edge_points = 6;  ///< points that first derivatives read

/// Weights of the norm, times h: 17/48, 59/48, 43/48, 49/48, then 1.
[[nodiscard]] double norm_weight(int row) noexcept;

/// First derivative times h: `first_edge[row][point]`.
extern const std::array<std::array<double, first_edge_points>, first_edge_rows> first_edge;

/// Second derivative d/dz(m d/dz) times h^2: the weight of m at `second_edge[row][point][place of m]`. Row 0 also has
/// `ghost_weight` times m at the surface times the ghost point.
using edge_table = std::array<std::array<std::array<double, edge_points>, edge_points>, second_edge_rows>;
extern const edge_table second_edge;
inline constexpr double ghost_weight = 12.0 / 17.0;

/// The derivative on the surface times h: of the ghost point, and of points 0 to 3.
inline constexpr std::array<double, 5> surface_derivative{-1.0 / 4, -5.0 / 6, 3.0 / 2, -1.0 / 2, 1.0 / 12};

}  // namespace waves
