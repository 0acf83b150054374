// SPDX-License-Identifier: Apache-2.0
// Which rows neighbours exchange.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "rows.hpp"

namespace waves {

/// Where a neighbour is: -1, 0 or 1 patches along y and z. The operator reads faces and edges, no corners of the box,
/// and nothing along x is cut.
struct direction {
  int y = 0, z = 0;
};
inline constexpr std::array<direction, 8> directions{
    {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, 1}, {-1, 1}, {1, -1}}};
/// The number of the opposite direction: each is beside its opposite.
[[nodiscard]] constexpr std::size_t opposite(std::size_t number) noexcept { return number ^ 1; }

struct row_range {
  int y_begin = 0, y_end = 0, z_begin = 0, z_end = 0;
  [[nodiscard]] std::size_t rows() const noexcept {
    return static_cast<std::size_t>((y_end - y_begin) * (z_end - z_begin));
  }
};
/// The rows of a patch that its neighbour in a direction needs, and those beside the patch that come from it.
[[nodiscard]] row_range rows_to(const patch_box& box, direction neighbour) noexcept;
[[nodiscard]] row_range rows_from(const patch_box& box, direction neighbour) noexcept;

/// Doubles of so many rows.
[[nodiscard]] std::size_t packed_size(const row_range& range, const rows& field) noexcept;
void pack(const rows& rows, const row_range& range, std::span<double> values) noexcept;
void unpack(std::span<const double> values, rows& rows, const row_range& range) noexcept;
/// Copies rows between fields of neighbours.
void copy_rows(const rows& source, const row_range& range, rows& target, const row_range& place) noexcept;

}  // namespace waves
