// SPDX-License-Identifier: Apache-2.0
// Reads reference files.
#include "compare/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nacre/error.hpp>

namespace waves {
namespace {

double step_of(const std::vector<double>& times, const std::string& file) {
  const double dt = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double even = times.front() + static_cast<double>(k) * dt;
    if (dt > 0 && std::abs(times[k] - even) <= 1e-3 * dt) continue;
    throw nacre::setup_error(
        {fmt::format("{}: time {} is {} s, and {} s at equal distances", file, k + 1, times[k], even),
         "times of a reference rise by the same step, to a thousandth of it", "write them so, with enough digits"});
  }
  return dt;
}

}  // namespace

reference read_reference(const std::string& file) {
  std::ifstream input(file);
  reference result;
  result.motion.name = "reference";
  std::vector<double> times;
  int number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    std::istringstream words(line);
    if (line.empty() || line[0] == '#') {
      std::string hash, sigma, start;
      double width = 0, begin = 0;
      if (words >> hash >> sigma >> width >> start >> begin && sigma == "sigma" && start == "start") {
        result.sigma = width;
        result.start = begin;
      }
      continue;
    }
    double time = 0, values[3] = {};
    if (!(words >> time >> values[0] >> values[1] >> values[2])) {
      throw nacre::setup_error({fmt::format("{}, line {} has no four numbers", file, number),
                                "a reference has the time and three displacements in each line", "correct the file"});
    }
    times.push_back(time);
    for (std::size_t k = 0; k < 3; ++k) result.motion.components[k].values.push_back(values[k]);
  }
  if (times.size() < 4) {
    throw nacre::setup_error(
        {file + " has no reference", "a reference has at least four lines of numbers", "name another file"});
  }
  const double dt = step_of(times, file);
  for (trace& each : result.motion.components) {
    each.begin = times.front();
    each.dt = dt;
  }
  return result;
}

seismogram for_moment(const reference& known, double sigma, double start) {
  seismogram result = known.motion;
  if (known.sigma <= 0) return result;
  const double more = sigma * sigma - known.sigma * known.sigma;
  if (more < -1e-9) {
    throw nacre::setup_error({fmt::format("the reference is for a Gaussian of {} s", known.sigma),
                              "it can be widened, not narrowed", fmt::format("take --sigma {} or more", known.sigma)});
  }
  for (trace& each : result.components) {
    each = widened(each, std::sqrt(std::max(more, 0.0)));
    each.begin += start - known.start;
  }
  return result;
}

}  // namespace waves
