// SPDX-License-Identifier: Apache-2.0
// Copies rows without the padding between them, which is the sides of other rows.
#include "halo_exchange.hpp"

#include <cstring>

namespace waves {
namespace {

row_range range_of(const patch_box& box, direction neighbour, int inside_width) noexcept {
  const auto along = [&](int way, int count, int& begin, int& end) {
    begin = way > 0 ? count - inside_width : way < 0 ? inside_width - halo : 0;
    end = way == 0 ? count : begin + halo;
  };
  row_range range;
  along(neighbour.y, box.ny, range.y_begin, range.y_end);
  along(neighbour.z, box.nz, range.z_begin, range.z_end);
  return range;
}

std::size_t row_doubles(const rows& field) noexcept {
  return static_cast<std::size_t>(field.steps().row) - static_cast<std::size_t>(lanes_max);
}

}  // namespace

row_range rows_to(const patch_box& box, direction neighbour) noexcept { return range_of(box, neighbour, halo); }
row_range rows_from(const patch_box& box, direction neighbour) noexcept { return range_of(box, neighbour, 0); }

std::size_t packed_size(const row_range& range, const rows& field) noexcept {
  return range.rows() * row_doubles(field);
}

void pack(const rows& rows, const row_range& range, std::span<double> values) noexcept {
  const std::size_t count = row_doubles(rows);
  double* next = values.data();
  for (int z = range.z_begin; z < range.z_end; ++z) {
    for (int y = range.y_begin; y < range.y_end; ++y, next += count) {
      std::memcpy(next, rows.at(0, y, z), count * sizeof(double));
    }
  }
}

void unpack(std::span<const double> values, rows& rows, const row_range& range) noexcept {
  const std::size_t count = row_doubles(rows);
  const double* next = values.data();
  for (int z = range.z_begin; z < range.z_end; ++z) {
    for (int y = range.y_begin; y < range.y_end; ++y, next += count) {
      std::memcpy(rows.at(0, y, z), next, count * sizeof(double));
    }
  }
}

void copy_rows(const rows& source, const row_range& range, rows& target, const row_range& place) noexcept {
  const std::size_t bytes = row_doubles(source) * sizeof(double);
  for (int z = 0; z < range.z_end - range.z_begin; ++z) {
    for (int y = 0; y < range.y_end - range.y_begin; ++y) {
      std::memcpy(target.at(0, place.y_begin + y, place.z_begin + z),
                  source.at(0, range.y_begin + y, range.z_begin + z), bytes);
    }
  }
}

}  // namespace waves
