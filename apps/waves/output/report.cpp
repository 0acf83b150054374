// SPDX-License-Identifier: Apache-2.0
// Writes the result.
#include "output/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace waves {
namespace {

nlohmann::json json_of(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f} %", 100 * *value) : "not compared";
}

}  // namespace

std::optional<double> slope_of(const std::vector<double>& errors) {
  if (errors.size() != 3) return std::nullopt;
  return std::min(std::log2(errors[0] / errors[1]), std::log2(errors[1] / errors[2]));
}

std::string report_text(const report& report) {
  std::string text =
      fmt::format("{}: {} points, {} steps, {:.3g} s, {:.3g} million points/s, {:.1f} bytes a point\n", report.name,
                  report.points, report.steps, report.seconds, report.points_per_second / 1e6, report.bytes_per_point);
  if (report.wave_points) text += fmt::format("{:.1f} points in the shortest wavelength\n", *report.wave_points);
  for (std::size_t k = 0; k < report.errors.size(); ++k) {
    text += fmt::format("h = {:<10.6g} error {:.3e}\n", report.spacings[k], report.errors[k]);
  }
  if (report.slope) text += fmt::format("slope {:.2f}\n", *report.slope);
  if (report.has_reference) {
    text += fmt::format("misfit: radial {}, transverse {}, vertical {}\n", percent(report.misfit_radial),
                        percent(report.misfit_transverse), percent(report.misfit_vertical));
  }
  for (const auto& [sigma, misfits] : report.wider) {
    text += fmt::format("  widened to sigma {} s: {}, {}, {}\n", sigma, percent(misfits[0]), percent(misfits[1]),
                        percent(misfits[2]));
  }
  if (report.energy_drift) text += fmt::format("energy constant to {:.1e}\n", *report.energy_drift);
  return text + fmt::format("digest {:016x}\n", report.digest);
}

std::string report_json(const report& report) {
  const nlohmann::ordered_json json{{"slope", json_of(report.slope)},
                                    {"misfit_radial", json_of(report.misfit_radial)},
                                    {"misfit_transverse", json_of(report.misfit_transverse)},
                                    {"misfit_vertical", json_of(report.misfit_vertical)},
                                    {"energy_drift", json_of(report.energy_drift)},
                                    {"points_per_s", report.points_per_second},
                                    {"seconds", report.seconds},
                                    {"digest", fmt::format("{:016x}", report.digest)}};
  return json.dump(2) + "\n";
}

}  // namespace waves
