// SPDX-License-Identifier: Apache-2.0
// Seismograms as columns and as a picture.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "output/files.hpp"

namespace waves {
namespace {

constexpr double width = 900, panel = 200, margin = 60;

double greatest(const trace& trace) {
  double most = 0;
  for (const double each : trace.values) most = std::max(most, std::abs(each));
  return most;
}

/// How a panel shows time and displacement.
struct panel_scale {
  double seconds = 1, size = 1, middle = 0;
  [[nodiscard]] std::string place(double t, double value) const {
    return fmt::format("{:.1f},{:.1f} ", margin + t / seconds * (width - margin - 10),
                       middle - value / size * panel * 0.45);
  }
};

std::string curve(const trace& trace, const panel_scale& scale, const char* style) {
  std::string points;
  for (std::size_t k = 0; k < trace.values.size(); ++k) {
    const double t = trace.begin + static_cast<double>(k) * trace.dt;
    if (t >= 0 && t <= scale.seconds) points += scale.place(t, trace.values[k]);
  }
  return fmt::format("<polyline fill=\"none\" {} points=\"{}\"/>\n", style, points);
}

}  // namespace

std::string columns_text(const seismogram& motion, const std::vector<std::string>& names) {
  std::string text = "# time";
  for (const std::string& each : names) text += " " + each;
  text += '\n';
  for (std::size_t k = 0; k < motion.components[0].values.size(); ++k) {
    const double t = motion.components[0].begin + static_cast<double>(k) * motion.components[0].dt;
    text += fmt::format("{:.9g}", t);
    for (const trace& each : motion.components) text += fmt::format(" {:.17g}", each.values[k]);
    text += '\n';
  }
  return text;
}

std::string svg_text(const seismogram& motion, const seismogram* reference, const std::vector<std::string>& names) {
  const trace& first = motion.components[0];
  const double seconds = first.begin + first.dt * static_cast<double>(first.values.size());
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, 3 * panel + 40);
  for (std::size_t k = 0; k < 3; ++k) {
    double size = greatest(motion.components[k]);
    if (reference != nullptr) size = std::max(size, greatest(reference->components[k]));
    if (size == 0) size = 1;
    const panel_scale scale{seconds, size, (static_cast<double>(k) + 0.5) * panel};
    text += fmt::format("<text x=\"5\" y=\"{}\">{}</text><text x=\"5\" y=\"{}\">{:.3g} m</text>\n", scale.middle + 4,
                        names[k], scale.middle - panel * 0.4, size);
    text += curve(motion.components[k], scale, "stroke=\"#1f5fa8\" stroke-width=\"2.5\"");
    if (reference != nullptr) {
      text += curve(reference->components[k], scale, "stroke=\"#d62728\" stroke-width=\"1\" stroke-dasharray=\"5 3\"");
    }
  }
  for (int second = 0; second <= static_cast<int>(seconds); ++second) {
    const double x = margin + second / seconds * (width - margin - 10);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{} s</text>\n", x, 3 * panel + 20, second);
  }
  const char* legend = reference != nullptr ? "computed (blue), reference (red, dashed)" : "displacement";
  return text + fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n</svg>\n", width / 2, 3 * panel + 36, legend);
}

}  // namespace waves
