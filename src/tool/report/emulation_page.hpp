// SPDX-License-Identifier: Apache-2.0
// The data of the page for an emulation, reduced to a size that a browser can show, for machines of any size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "emulator/profile_file.hpp"

namespace nacre::tool {

/// A plane of the grid: the nodes with one coordinate.
struct grid_slice {
  char axis = 'z';
  std::int32_t coordinate = 0;
};

/// Reads a plane such as "z=18". Without a text: the middle along z. Throws setup_error when the grid has no such
/// plane.
[[nodiscard]] grid_slice slice_of(const std::string& text, const coordinates& grid);

/// Limits for the data of a page.
struct emulation_page_bounds {
  std::size_t cells = 1'000'000;  ///< nodes of the plane times bins of time; squares of neighbours share one otherwise
  std::size_t hop_bars = 512;     ///< numbers of hops; neighbours share one when there are more
};

/// The data as JSON, which src/tool/report/page/emulation.js reads. Less than 3 MB with the default bounds.
[[nodiscard]] std::string emulation_page_data(const emulator::profile_input& profile, const grid_slice& plane,
                                              const emulation_page_bounds& bounds = {});

/// How busy nodes were.
struct emulation_sums {
  double most_cell = 0;               ///< the most of a node in a bin, as a part of all its threads
  double most_node = 0;               ///< the most of a node over all time
  std::uint64_t nodes_that_work = 0;  ///< that have run a handler, if only for no time
  std::uint64_t most_handlers = 0;    ///< of a node
  std::uint64_t busy_ns = 0;          ///< of all threads together
};
[[nodiscard]] emulation_sums sums_of(const emulator::profile_input& profile);

/// An emulation as a page, or as text.
void write_emulation_html(const emulator::profile_input& profile, const std::string& plane, const std::string& path);
[[nodiscard]] std::string emulation_text(const emulator::profile_input& profile);

}  // namespace nacre::tool
