// SPDX-License-Identifier: Apache-2.0
// A size field by a raster.
#pragma once

#include "size/size_field.hpp"

namespace mesh2d {

/// Bilinear between the centres of cells. Beyond the outermost centres the value is that of the nearest place on the
/// border. Cells without data have no weight; where none of the four nearest ones has data there is no bound.
class raster_field final : public size_field {
 public:
  explicit raster_field(raster_grid&& grid);
  [[nodiscard]] double length(const point& point) const noexcept override;
  [[nodiscard]] field_faults faults() const override { return {}; }

 private:
  raster_grid grid_;
};

}  // namespace mesh2d
