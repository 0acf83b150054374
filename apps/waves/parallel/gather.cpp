// SPDX-License-Identifier: Apache-2.0
// Calls patches, and sorts what they answer.
#include "parallel/gather.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace waves {

namespace {

/// Adds the parts of a receiver's displacement in the order of their rows, as a patch does that has all of them.
seismogram motion_of(const std::string& name, double dt, const std::map<int, std::vector<double>>& parts) {
  seismogram result{name, {}};
  for (trace& each : result.components) each = {0, dt, {}};
  for (const auto& [first_row, values] : parts) {
    for (std::size_t index = 0; index < values.size(); ++index) {
      std::vector<double>& sums = result.components[index % 3].values;
      if (sums.size() <= index / 3) {
        sums.push_back(values[index]);
      } else {
        sums[index / 3] += values[index];
      }
    }
  }
  return result;
}

}  // namespace

template <auto Ask, class Wanted, class Take, class... Args>
void gatherer::ask(Wanted&& wanted, Take&& take, const Args&... args) {
  std::vector<std::pair<patch_box, decltype(rt_.call<Ask>(patches_[{0, 0}], args...))>> answers;
  for (int at_z = 0; at_z < cut_.z(); ++at_z) {
    for (int at_y = 0; at_y < cut_.y(); ++at_y) {
      const patch_box box = cut_.box(at_y, at_z);
      if (wanted(box)) answers.emplace_back(box, rt_.call<Ask>(patches_[{at_z, at_y}], args...));
    }
  }
  for (auto& [box, answer] : answers) take(box, answer.get());
}

template <auto Ask, class Put>
void gatherer::for_each_row(Put&& put) {
  const auto all = [](const patch_box&) { return true; };
  ask<Ask>(all, [&put](const patch_box& box, const auto& values) {
    std::size_t next = 0;
    for (int z = box.z; z < box.z + box.nz; ++z) {
      for (int y = box.y; y < box.y + box.ny && next < values.size(); ++y) put(z, y, values[next++]);
    }
  });
}

double gatherer::energy() {
  const auto ny = static_cast<std::size_t>(problem_.grid.y.count());
  std::vector<double> rows(ny * static_cast<std::size_t>(problem_.grid.z.count()));
  for_each_row<&patch::energies>([&](int z, int y, double value) {
    rows[static_cast<std::size_t>(z) * ny + static_cast<std::size_t>(y)] = value;
  });
  return std::accumulate(rows.begin(), rows.end(), 0.0);
}

double gatherer::relative_error() {
  const auto ny = static_cast<std::size_t>(problem_.grid.y.count());
  std::vector<std::array<double, 2>> rows(ny * static_cast<std::size_t>(problem_.grid.z.count()));
  for_each_row<&patch::errors>([&](int z, int y, const std::array<double, 2>& value) {
    rows[static_cast<std::size_t>(z) * ny + static_cast<std::size_t>(y)] = value;
  });
  double error = 0, norm = 0;
  for (const auto& each : rows) {
    error += each[0];
    norm += each[1];
  }
  return std::sqrt(error / norm);
}

std::vector<seismogram> gatherer::motions() {
  std::vector<std::map<int, std::vector<double>>> parts(problem_.receivers.size());  // by their first rows
  const auto has_receivers = [&](const patch_box& box) {
    return std::any_of(problem_.receivers.begin(), problem_.receivers.end(),
                       [&](const receiver& each) { return each.has_rows_in(box); });
  };
  ask<&patch::records>(has_receivers, [&](const patch_box&, std::vector<receiver_record> records) {
    for (receiver_record& record : records) {
      parts[static_cast<std::size_t>(record.number)][record.first_row] = std::move(record.values);
    }
  });
  std::vector<seismogram> all;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    all.push_back(motion_of(problem_.receivers[k].name, problem_.grid.dt, parts[k]));
  }
  return all;
}

plane_points gatherer::plane(char axis, double metres) {
  const grid& grid = problem_.grid;
  const bool is_level = axis == 'z';
  const int count = is_level ? grid.z.count() : grid.y.count();
  const double origin = is_level ? grid.origin[2] : grid.origin[1];
  const int index = std::clamp(static_cast<int>(std::lround((metres - origin) / grid.h)), 0, count - 1);
  plane_points result;
  result.columns = grid.x.count();
  result.rows = is_level ? grid.y.count() : grid.z.count();
  result.spacing = grid.h;
  result.left = grid.origin[0];
  result.top = is_level ? grid.origin[1] : grid.origin[2];
  result.down = is_level ? 'y' : 'z';
  result.depth = origin + index * grid.h;
  const auto row = static_cast<std::size_t>(3 * result.columns);
  result.values.resize(row * static_cast<std::size_t>(result.rows));
  const auto meets = [&](const patch_box& box) {
    const int first = is_level ? box.z : box.y, rows = is_level ? box.nz : box.ny;
    return index >= first && index < first + rows;
  };
  ask<&patch::plane>(
      meets,
      [&](const patch_box&, const plane_part& part) {
        std::copy(part.values.begin(), part.values.end(),
                  result.values.begin() + static_cast<std::ptrdiff_t>(row) * part.first_row);
      },
      is_level ? 2 : 1, index);
  return result;
}

std::uint64_t gatherer::digest() { return rt_.reduce<&patch::digest>(patches_, std::plus<>{}).get(); }

double gatherer::bytes_per_point() {
  const auto bytes = static_cast<double>(rt_.reduce<&patch::bytes>(patches_, std::plus<>{}).get());
  return bytes / static_cast<double>(problem_.grid.points());
}

}  // namespace waves
