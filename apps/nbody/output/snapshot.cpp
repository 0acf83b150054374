// SPDX-License-Identifier: Apache-2.0
// Text files, and what all files are checked for.
#include "output/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nacre/nacre.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace nbody {
namespace {

bool ends_with(std::string_view name, std::string_view end) noexcept {
  return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
}

[[noreturn]] void refuse(const std::string& name, const std::string& reason, const std::string& advice) {
  throw nacre::setup_error({name, reason, advice});
}

std::string text_of(const vector3& place) { return fmt::format("({}, {}, {})", place[0], place[1], place[2]); }

void demand_apart(const std::string& name, const std::vector<body>& bodies) {
  std::vector<std::uint32_t> order(bodies.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return bodies[a].place != bodies[b].place ? bodies[a].place < bodies[b].place : a < b;
  });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const body &first = bodies[order[k - 1]], &second = bodies[order[k]];
    if (first.place != second.place) continue;
    refuse(fmt::format("{}: bodies {} and {} are both at {}", name, order[k - 1], order[k], text_of(first.place)),
           "the force between them has no direction", "move one of them, or make one body of both");
  }
}

}  // namespace

file_format format_of(const std::string& name) noexcept {
  if (ends_with(name, ".txt")) return file_format::text;
  return ends_with(name, ".hdf5") || ends_with(name, ".h5") ? file_format::hdf5 : file_format::unknown;
}

double gravity_of(const file_units& units) noexcept {
  constexpr double newton = 6.6743e-8;  // cm^3 / (g s^2), CODATA 2018
  if (!(units.length > 0 && units.mass > 0 && units.velocity > 0)) return 0;
  return newton * units.mass / units.length / units.velocity / units.velocity;
}

void demand_sound(const std::string& name, const std::vector<body>& bodies) {
  if (bodies.empty()) refuse(name + " has no bodies", "nothing attracts anything", "give a file with some");
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const body& each = bodies[k];
    for (const vector3* vector : {&each.place, &each.velocity}) {
      if (std::all_of(vector->begin(), vector->end(), [](double value) { return std::isfinite(value); })) continue;
      refuse(fmt::format("{}: the {} of body {} is {}", name, vector == &each.place ? "place" : "velocity", k,
                         text_of(*vector)),
             "it is to be three finite numbers", "correct the file");
    }
    if (std::isfinite(each.mass) && each.mass > 0) continue;
    refuse(fmt::format("{}: the mass of body {} at {} is {}", name, k, text_of(each.place), each.mass),
           "masses are positive numbers", "leave the body out, or give it a small mass");
  }
  demand_apart(name, bodies);
}

snapshot read_text(const std::string& name) {
  std::ifstream file(name);
  if (!file) refuse("cannot read " + name, std::strerror(errno), "check the name");
  snapshot content;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    std::istringstream words(line);
    if (begin == std::string::npos || line[begin] == '#') {
      std::string hash, title;
      double time = 0;
      if (words >> hash >> title >> time && title == "time") content.time = time;
      continue;
    }
    std::array<double, 7> values{};
    std::size_t count = 0;
    for (std::string word; words >> word; ++count) {
      if (count >= values.size()) continue;
      char* end = nullptr;
      values[count] = std::strtod(word.c_str(), &end);
      if (*end != '\0')
        refuse(fmt::format("{}:{}: '{}' is no number", name, number, word), "a line has seven", "correct it");
    }
    if (count != values.size()) {
      refuse(fmt::format("{}:{}: {} numbers", name, number, count), "a line has seven: x y z vx vy vz mass",
             "correct it");
    }
    body next;
    std::copy_n(values.begin(), 3, next.place.begin());
    std::copy_n(values.begin() + 3, 3, next.velocity.begin());
    next.mass = values[6], next.number = static_cast<std::uint32_t>(content.bodies.size());
    content.bodies.push_back(next);
  }
  return content;
}

void write_text(const std::string& name, const snapshot& content) {
  std::ofstream file(name);
  file << fmt::format("# time {}\n# x y z vx vy vz mass\n", content.time);
  for (const body& each : content.bodies) {
    const vector3 &x = each.place, &v = each.velocity;
    file << fmt::format("{} {} {} {} {} {} {}\n", x[0], x[1], x[2], v[0], v[1], v[2], each.mass);
  }
  file.close();
  if (!file) refuse("cannot write " + name, "the disk may be full", "try another folder");
}

snapshot read_snapshot(const std::string& name) {
  snapshot content = format_of(name) == file_format::hdf5 ? read_hdf5(name) : read_text(name);
  demand_sound(name, content.bodies);
  return content;
}

void write_snapshot(const std::string& name, snapshot content) {
  std::sort(content.bodies.begin(), content.bodies.end(),
            [](const body& a, const body& b) { return a.number < b.number; });
  format_of(name) == file_format::hdf5 ? write_hdf5(name, content) : write_text(name, content);
}

}  // namespace nbody
