// SPDX-License-Identifier: Apache-2.0
// METIS partitions the graph of groups of triangles; single triangles that stick out change sides afterwards.
#include "parallel/partition.hpp"

#include <metis.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <new>
#include <numbers>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "geometry/curve.hpp"

namespace mesh2d {
namespace {

double degrees_of(const triangulation& mesh, index t) {
  const auto& [a, b, c] = mesh.triangles[t].corner;
  std::array<double, 3> side{squared_length(mesh.at(b) - mesh.at(a)), squared_length(mesh.at(c) - mesh.at(b)),
                             squared_length(mesh.at(a) - mesh.at(c))};
  std::sort(side.begin(), side.end());
  const double sine = twice_area(mesh, t) / std::sqrt(side[1] * side[2]);
  return std::asin(std::min(sine, 1.0)) * 180 / std::numbers::pi;  // the least angle is at most 60 degrees
}

/// The longest side of a triangle that is not constrained; none if all are.
side longest_free_side(const triangulation& mesh, index t) {
  side longest = none;
  double most = 0;
  for (unsigned k = 0; k < 3; ++k) {
    const side s = side_of(t, k);
    const double length = squared_length(mesh.at(mesh.target(s)) - mesh.at(mesh.origin(s)));
    if (mesh.constrained(s) || mesh.twin(s) == none || length <= most) continue;
    longest = s;
    most = length;
  }
  return longest;
}

index root_of(std::vector<index>& parent, index t) {
  while (parent[t] != t) t = parent[t] = parent[parent[t]];
  return t;
}

/// Numbers groups of triangles that must stay together; returns their count.
index group(const triangulation& mesh, std::optional<double> degrees_min, std::vector<index>& group_of) {
  const double thin = degrees_min ? 15 : 0;
  std::vector<index> parent(mesh.triangles.size());
  std::iota(parent.begin(), parent.end(), index{0});
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    const double degrees = degrees_of(mesh, t);
    const side longest = degrees < degrees_min.value_or(0) ? longest_free_side(mesh, t) : none;
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k), other = mesh.twin(s);
      if (other == none || mesh.constrained(s) || (degrees >= thin && s != longest)) continue;
      parent[root_of(parent, triangle_of(other))] = root_of(parent, t);
    }
  }
  group_of.assign(mesh.triangles.size(), none);
  index count = 0;
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    index& number = group_of[root_of(parent, t)];
    if (number == none) number = count++;
  }
  std::vector<index> result(mesh.triangles.size());
  for (index t = 0; t < mesh.triangles.size(); ++t) result[t] = group_of[root_of(parent, t)];
  group_of = std::move(result);
  return count;
}

struct graph {
  std::vector<idx_t> begin{0}, neighbour{}, weight{}, cost{};
};

/// A group that is heavier than a part should be fills a part by itself, and the others share the rest: so heavy groups
/// get the weight of a part. With more METIS would make empty parts, and complain on standard output.
void limit_to_shares(std::vector<double>& weight, std::uint32_t parts) {
  std::vector<double> heaviest = weight;
  std::sort(heaviest.begin(), heaviest.end(), std::greater<>());
  double rest = std::accumulate(weight.begin(), weight.end(), 0.0);
  std::uint32_t left = parts;
  for (const double each : heaviest) {
    if (left == 1 || each <= rest / left) break;
    rest -= each;
    --left;
  }
  for (double& each : weight) each = std::min(each, rest / left);
}

graph graph_of(const triangulation& mesh, const std::vector<double>& weights, const std::vector<index>& group_of,
               index count, std::uint32_t parts) {
  std::vector<std::map<index, idx_t>> sides(count);
  std::vector<double> weight(count);
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    weight[group_of[t]] += weights[t];
    for (const side other : mesh.triangles[t].twin) {
      if (other == none || group_of[triangle_of(other)] == group_of[t]) continue;
      ++sides[group_of[t]][group_of[triangle_of(other)]];
    }
  }
  limit_to_shares(weight, parts);
  // METIS adds weights up in 32 bits.
  const double scale = 5e8 / std::max(std::accumulate(weight.begin(), weight.end(), 0.0), 1e-300);
  graph result;
  for (index g = 0; g < count; ++g) {
    result.weight.push_back(std::max<idx_t>(1, static_cast<idx_t>(weight[g] * scale)));
    for (const auto& [other, cost] : sides[g]) {
      result.neighbour.push_back(static_cast<idx_t>(other));
      result.cost.push_back(cost);
    }
    result.begin.push_back(static_cast<idx_t>(result.neighbour.size()));
  }
  return result;
}

std::vector<idx_t> run_metis(graph& given, std::uint32_t count) {
  auto vertices = static_cast<idx_t>(given.weight.size()), constraints = idx_t{1}, parts = static_cast<idx_t>(count);
  std::array<idx_t, METIS_NOPTIONS> idx_ts{};
  METIS_SetDefaultOptions(idx_ts.data());
  idx_ts[METIS_OPTION_SEED] = 1;
  idx_ts[METIS_OPTION_NUMBERING] = 0;
  std::vector<idx_t> part(given.weight.size());
  idx_t cut = 0;
  const auto call = count <= 8 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  const int status = call(&vertices, &constraints, given.begin.data(), given.neighbour.data(), given.weight.data(),
                          nullptr, given.cost.data(), &parts, nullptr, nullptr, idx_ts.data(), &cut, part.data());
  if (status == METIS_ERROR_MEMORY) throw std::bad_alloc();
  if (status != METIS_OK) throw std::runtime_error("METIS cannot divide the domain into subdomains");
  return part;
}

/// A triangle with two sides at one other part goes there, which makes the angles of interfaces larger.
void smooth(const triangulation& mesh, const std::vector<index>& group_of, std::vector<std::uint32_t>& part_of) {
  std::vector<std::size_t> size(*std::max_element(part_of.begin(), part_of.end()) + 1);
  for (const std::uint32_t each : part_of) ++size[each];
  std::vector<std::uint32_t> in_group(mesh.triangles.size());
  for (const index each : group_of) ++in_group[each];
  for (int pass = 0; pass < 3; ++pass) {
    for (index t = 0; t < mesh.triangles.size(); ++t) {
      if (in_group[group_of[t]] > 1 || size[part_of[t]] < 4) continue;
      std::array<std::uint32_t, 3> values{};
      for (unsigned k = 0; k < 3; ++k) {
        const side other = mesh.triangles[t].twin[k];
        values[k] = other == none ? part_of[t] : part_of[triangle_of(other)];
      }
      for (unsigned k = 0; k < 3; ++k) {
        if (values[k] != values[(k + 1) % 3] || values[k] == part_of[t]) continue;
        --size[part_of[t]];
        ++size[values[k]];
        part_of[t] = values[k];
        break;
      }
    }
  }
}

/// Numbers the parts that are not empty along a space-filling curve: parts with near numbers, which begin on one rank,
/// are near to each other.
void number_along_curve(const triangulation& mesh, std::vector<std::uint32_t>& part_of, std::uint32_t count) {
  std::vector<point> centre(count);
  std::vector<double> triangles(count);
  for (index t = 0; t < part_of.size(); ++t) {
    for (const index corner : mesh.triangles[t].corner) {
      centre[part_of[t]].x += mesh.at(corner).x / 3;
      centre[part_of[t]].y += mesh.at(corner).y / 3;
    }
    ++triangles[part_of[t]];
  }
  std::vector<point> centres;
  std::vector<std::uint32_t> parts;
  for (std::uint32_t k = 0; k < count; ++k) {
    if (triangles[k] == 0) continue;
    centres.push_back({centre[k].x / triangles[k], centre[k].y / triangles[k]});
    parts.push_back(k);
  }
  const box all = bounds_of(centres);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order;  // place on the curve, part
  for (std::size_t k = 0; k < parts.size(); ++k) order.emplace_back(place_on_curve(all, centres[k]), parts[k]);
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> number(count);
  for (std::uint32_t k = 0; k < order.size(); ++k) number[order[k].second] = k;
  for (std::uint32_t& each : part_of) each = number[each];
}

}  // namespace

std::vector<std::uint32_t> partition(const triangulation& mesh, const std::vector<double>& weights,
                                     std::optional<double> degrees_min, std::uint32_t count) {
  std::vector<std::uint32_t> result(mesh.triangles.size());
  std::vector<index> group_of;
  const index groups = group(mesh, degrees_min, group_of);
  count = std::min(count, std::max<std::uint32_t>(groups / 4, 1));  // of fewer METIS makes empty parts, and complains
  if (count < 2) return result;
  graph given = graph_of(mesh, weights, group_of, groups, count);
  const std::vector<idx_t> part = run_metis(given, count);
  for (index t = 0; t < mesh.triangles.size(); ++t) result[t] = static_cast<std::uint32_t>(part[group_of[t]]);
  smooth(mesh, group_of, result);
  number_along_curve(mesh, result, count);
  return result;
}

}  // namespace mesh2d
