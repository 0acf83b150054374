// SPDX-License-Identifier: Apache-2.0
// The time of each rank as a stacked bar, as in Clam's figure 7.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "clam_mesh/parts/breakdown.hpp"

namespace clam_mesh {
namespace {

constexpr double panel_width = 300, panel_height = 180, left = 64, top = 56, gap = 40;

struct part {
  std::string_view name, colour;
  double rank_time::*seconds;
};
constexpr std::array<part, 4> parts{{{"computing", "#4c78a8", &rank_time::computing},
                                     {"messages", "#f2a641", &rank_time::messages},
                                     {"balancing", "#c8413b", &rank_time::balancing},
                                     {"idle", "#dddddd", &rank_time::idle}}};

double height_of(const rank_time& rank) {
  double sum = 0;
  for (const part& each : parts) sum += rank.*each.seconds;
  return sum;
}

std::string text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, words);
}

std::string bars_of(const breakdown& run, double x, double most) {
  std::string all;
  const double width = panel_width / static_cast<double>(std::max<std::size_t>(run.ranks.size(), 1));
  for (std::size_t rank = 0; rank < run.ranks.size(); ++rank) {
    double y = top + panel_height;
    for (const part& each : parts) {
      const double height = panel_height * (run.ranks[rank].*each.seconds) / most;
      y -= height;
      all += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"/>\n",
                         x + width * static_cast<double>(rank), y, width * 0.9, height, each.colour);
    }
  }
  return all;
}

}  // namespace

std::string drawn(const std::vector<std::string>& names, const std::vector<breakdown>& runs) {
  double most = 1e-12;
  for (const breakdown& run : runs) {
    for (const rank_time& rank : run.ranks) most = std::max(most, height_of(rank));
  }
  const double width = left + static_cast<double>(runs.size()) * (panel_width + gap);
  std::string all = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n"
      "<style>text{{font:12px sans-serif;fill:#222}}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, top + panel_height + 44);
  double legend = left;
  for (const part& each : parts) {
    all += fmt::format("<rect x=\"{:.1f}\" y=\"8\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", legend, each.colour);
    all += text(legend + 17, 18, "start", each.name);
    legend += 100;
  }
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const double x = left + static_cast<double>(run) * (panel_width + gap);
    all +=
        text(x, top - 10, "start",
             fmt::format("{}: {:.3g} s, overhead {:.1f} %", names[run], runs[run].seconds, 100 * runs[run].overhead()));
    all += bars_of(runs[run], x, most);
    all += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\" fill=\"none\" stroke=\"#222\"/>\n", x, top,
                       top + panel_height, x + panel_width);
    all +=
        text(x + panel_width / 2, top + panel_height + 18, "middle", fmt::format("{} ranks", runs[run].ranks.size()));
  }
  for (const double part_of_most : {0.0, 0.5, 1.0}) {
    all += text(left - 6, top + panel_height * (1 - part_of_most) + 4, "end",
                fmt::format("{:.3g} s", part_of_most * most));
  }
  return all + "</svg>\n";
}

}  // namespace clam_mesh
