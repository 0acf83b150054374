// SPDX-License-Identifier: Apache-2.0
// A plate with one hot border, cut into tiles: what the programs of docs/porting.md share, whatever moves the data.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

constexpr int plate_rows = 96, plate_columns = 120, steps = 100;
enum side { up, down, left, right };  // the opposite one is side ^ 1

/// A rectangle of the plate, with a row of its neighbours' cells on each side.
struct tile {
  int rows = 0, columns = 0;
  std::vector<double> cells;

  tile() = default;
  /// Tile (row, column) of row_count times column_count.
  tile(int row, int column, int row_count, int column_count)
      : rows(plate_rows * (row + 1) / row_count - plate_rows * row / row_count),
        columns(plate_columns * (column + 1) / column_count - plate_columns * column / column_count),
        cells(static_cast<std::size_t>(rows + 2) * (columns + 2)) {
    if (row == 0) set_ghosts(up, std::vector<double>(columns, 1.0).data());  // the hot border
  }
  int length(int side) const { return side < left ? columns : rows; }
  double& cell(int row, int column) { return cells[row * (columns + 2) + column]; }
  double& along(int side, int place, bool outside) {
    const int inner = side % 2 == 0 ? 1 : side == down ? rows : columns;
    const int across = outside ? inner + (side % 2 == 0 ? -1 : 1) : inner;
    return side < left ? cell(across, place + 1) : cell(place + 1, across);
  }
  /// The cells along a side, to send.
  std::vector<double> edge(int side) {
    std::vector<double> values;
    for (int place = 0; place < length(side); ++place) values.push_back(along(side, place, false));
    return values;
  }
  /// The neighbour's cells on a side, as received.
  void set_ghosts(int side, const double* values) {
    for (int place = 0; place < length(side); ++place) along(side, place, true) = values[place];
  }
  /// One step; returns the largest change.
  double relax() {
    double change = 0;
    tile previous = *this;
    for (int row = 1; row <= rows; ++row) {
      for (int column = 1; column <= columns; ++column) {
        const double mean = (previous.cell(row - 1, column) + previous.cell(row + 1, column) +
                             previous.cell(row, column - 1) + previous.cell(row, column + 1)) /
                            4;
        change = std::max(change, std::abs(mean - previous.cell(row, column)));
        cell(row, column) = mean;
      }
    }
    return change;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(rows, columns, cells);
  }
};
