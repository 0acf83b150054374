// SPDX-License-Identifier: Apache-2.0
// Filters and norms of traces.
#include "compare/seismogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace waves {
namespace {

/// Calls act(computed, reference) at the times of the reference that the computed trace reaches.
template <class Act>
void for_common_times(const trace& computed, const trace& reference, Act&& act) {
  const double end = computed.begin + computed.dt * (static_cast<double>(computed.values.size()) - 0.5);
  for (std::size_t k = 0; k < reference.values.size(); ++k) {
    const double t = reference.begin + static_cast<double>(k) * reference.dt;
    if (t <= end) act(computed.at(t), reference.values[k]);
  }
}

/// The cubic through four values, at `part` of the way from the second to the third.
double cubic(const double* v, double part) {
  const double a = part + 1, b = part, c = part - 1, d = part - 2;
  return -v[0] * b * c * d / 6 + v[1] * a * c * d / 2 - v[2] * a * b * d / 2 + v[3] * a * b * c / 6;
}

}  // namespace

double trace::at(double t) const {
  const double place = (t - begin) / dt;
  if (values.empty() || place < 0) return 0;
  const auto last = static_cast<double>(values.size() - 1);
  if (place >= last) return values.back();
  const auto index = static_cast<std::size_t>(place);
  const double part = place - std::floor(place);
  if (index >= 1 && index + 2 < values.size()) return cubic(&values[index - 1], part);
  return values[index] * (1 - part) + values[index + 1] * part;
}

seismogram rotated(const seismogram& source, double c, double s) {
  seismogram result = source;
  for (std::size_t k = 0; k < source.components[0].values.size(); ++k) {
    const double x = source.components[0].values[k], y = source.components[1].values[k];
    result.components[0].values[k] = c * x + s * y;
    result.components[1].values[k] = -s * x + c * y;
  }
  return result;
}

trace widened(const trace& source, double sigma) {
  if (sigma <= 0) return source;
  trace result = source;
  const auto count = static_cast<std::ptrdiff_t>(source.values.size());
  const auto reach = static_cast<std::ptrdiff_t>(std::ceil(6 * sigma / source.dt));
  std::vector<double> weights;
  double sum = 0;
  for (std::ptrdiff_t k = -reach; k <= reach; ++k) {
    const double s = static_cast<double>(k) * source.dt / sigma;
    weights.push_back(std::exp(-s * s / 2));
    sum += weights.back();
  }
  for (std::ptrdiff_t k = 0; k < count; ++k) {
    double value = 0;
    for (std::ptrdiff_t j = -reach; j <= reach; ++j) {
      if (k - j < 0) continue;  // at rest before
      value += weights[static_cast<std::size_t>(j + reach)] *
               source.values[static_cast<std::size_t>(std::min(k - j, count - 1))];
    }
    result.values[static_cast<std::size_t>(k)] = value / sum;
  }
  return result;
}

std::optional<double> relative_misfit(const trace& computed, const trace& reference) {
  double error = 0, norm = 0;
  for_common_times(computed, reference, [&](double a, double b) {
    error += (a - b) * (a - b);
    norm += b * b;
  });
  if (!(norm > 0)) return std::nullopt;
  return std::sqrt(error / norm);
}

std::optional<double> greatest_misfit(const trace& computed, const trace& reference) {
  double error = 0, norm = 0;
  for_common_times(computed, reference, [&](double a, double b) {
    error = std::max(error, std::abs(a - b));
    norm = std::max(norm, std::abs(b));
  });
  if (!(norm > 0)) return std::nullopt;
  return error / norm;
}

}  // namespace waves
