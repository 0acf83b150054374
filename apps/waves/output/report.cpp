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

}  // namespace

std::optional<double> slope_of(const std::vector<double>& errors) {
  if (errors.size() != 3) return std::nullopt;
  return std::min(std::log2(errors[0] / errors[1]), std::log2(errors[1] / errors[2]));
}

std::string report_text(const report& of) {
  std::string text =
      fmt::format("{}: {} points, {} steps, {:.3g} s, {:.3g} million points/s, {:.1f} bytes a point\n", of.name,
                  of.points, of.steps, of.seconds, of.points_per_second / 1e6, of.bytes_per_point);
  for (std::size_t k = 0; k < of.errors.size(); ++k) {
    text += fmt::format("h = {:<10.6g} error {:.3e}\n", of.spacings[k], of.errors[k]);
  }
  if (of.slope) text += fmt::format("slope {:.2f}\n", *of.slope);
  if (of.misfit_vertical) {
    const auto percent = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.2f} %", 100 * *value) : "-";
    };
    text += fmt::format("misfit: radial {}, transverse {}, vertical {}\n", percent(of.misfit_radial),
                        percent(of.misfit_transverse), percent(of.misfit_vertical));
  }
  for (const auto& [sigma, misfits] : of.wider) {
    text += fmt::format("  widened to sigma {} s: {:.2f} %, {:.2f} %, {:.2f} %\n", sigma, 100 * misfits[0],
                        100 * misfits[1], 100 * misfits[2]);
  }
  if (of.energy_drift) text += fmt::format("energy constant to {:.1e}\n", *of.energy_drift);
  return text + fmt::format("digest {:016x}\n", of.digest);
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
