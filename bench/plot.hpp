// SPDX-License-Identifier: Apache-2.0
// Plots as plain SVG, readable on light and on dark pages; for any benchmark.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace plot {

/// One value with the range of the runs behind it. A logarithmic axis leaves out points that are not positive.
struct point {
  double x = 0, y = 0, least = 0, most = 0;
};

struct line {
  std::string name{};
  /// 0 is grey, 1 to 7 are colours; the mark goes with it, so equal lines look alike everywhere.
  std::size_t colour = 1;
  bool dashed = false;  ///< for what the others are compared with
  std::vector<point> points{};
};

enum class axes {
  logarithmic,  ///< x is a size in bytes, or a plain number, with ticks at powers of two; y has ticks at powers of ten
  linear,       ///< both are counted from 0
  share         ///< x as if logarithmic; y is a part of a whole, from 0 to 1
};

/// y has prefixes of its unit: "s" becomes ns, us, ms; others get k, M, G.
struct chart {
  std::string title{};
  std::string x_label{}, y_unit{};
  bool x_is_bytes = true;  ///< of a logarithmic chart
  axes kind = axes::logarithmic;
  std::vector<line> lines{};
};

/// Rows of charts under one title. The charts of a row share a legend, that of its first chart, and so have equal
/// lines.
class page {
 public:
  explicit page(std::string title) : title_(std::move(title)) {}
  void add_row(std::vector<chart> charts) { rows_.push_back(std::move(charts)); }
  [[nodiscard]] std::string svg() const;

 private:
  std::string title_;
  std::vector<std::vector<chart>> rows_;
};

}  // namespace plot
