// SPDX-License-Identifier: Apache-2.0
// Lines of `name = "value"` are all that such a file has.
#include "calibration/cost_table.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace nacre::calibration {

std::string duration_text(double nanoseconds) {
  return std::to_string(std::llround(std::max(nanoseconds, 0.0))) + "ns";
}

cost_rows read_costs(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  cost_rows rows;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name, equals, value;
    if (!(words >> name >> equals >> value) || name.front() == '#' || equals != "=") continue;
    std::erase(value, '"');
    rows[name] = value;
  }
  return rows;
}

void update_costs(const std::string& file, const cost_rows& rows) {
  cost_rows all;
  if (std::ifstream(file)) all = read_costs(file);
  for (const auto& [name, value] : rows) all[name] = value;
  std::ofstream out(file);
  out << "# What this machine costs, for simulations: --nacre.config=FILE\n";
  for (const auto& [name, value] : all) out << name << " = \"" << value << "\"\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

}  // namespace nacre::calibration
