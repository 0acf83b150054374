// SPDX-License-Identifier: Apache-2.0
// Makes the decomposition from a coarse mesh of the domain.
#include "parallel/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nacre/error.hpp>

#include "kernel/refiner.hpp"
#include "meshing/memory.hpp"
#include "parallel/partition.hpp"
#include "size/raster_files.hpp"

namespace mesh2d {
namespace {

/// Refinement makes this many triangles in an area that the bound fits into once, measured on shapes of all kinds.
constexpr double triangles_per_bound = 1.554;
constexpr double triangles_a_subdomain = 50'000, coarse_a_subdomain = 24;
/// At rest, with half a vertex.
constexpr double bytes_expected = 48;
/// The least angle of the coarse mesh.
constexpr double coarse_degrees = 20.7;

/// The angle at which interfaces may meet without angles below `degrees` between them: arctan(sin a / (2 - cos a)) must
/// not be less (Miller, Pav, Walkington). At most 60.
double interface_degrees(double degrees) {
  constexpr double radian = std::numbers::pi / 180;
  double angle = degrees;
  while (angle < 60 && std::atan(std::sin(angle * radian) / (2 - std::cos(angle * radian))) < degrees * radian) {
    angle += 0.25;
  }
  return angle;
}

double expected_in(const std::array<point, 3>& points, std::uint32_t region, const size_rule& rule, int depth) {
  const auto& [a, b, c] = points;
  const point middle{(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3};
  const double bound = rule.area_max(region, middle);
  double least = bound, most = bound;
  for (const point& corner : points) {
    least = std::min(least, rule.area_max(region, corner));
    most = std::max(most, rule.area_max(region, corner));
  }
  if (depth == 0 || most <= 1.5 * least) return triangles_per_bound * std::abs(cross(b - a, c - a)) / 2 / bound;
  const auto half = [](const point& u, const point& v) { return point{(u.x + v.x) / 2, (u.y + v.y) / 2}; };
  const point of_ab = half(a, b), of_bc = half(b, c), of_ca = half(c, a);
  return expected_in({a, of_ab, of_ca}, region, rule, depth - 1) +
         expected_in({of_ab, b, of_bc}, region, rule, depth - 1) +
         expected_in({of_ca, of_bc, c}, region, rule, depth - 1) +
         expected_in({of_ab, of_bc, of_ca}, region, rule, depth - 1);
}

/// How often triangles are cut in four where bounds differ. A field may differ everywhere: the whole mesh has some 2^18
/// samples then, which take less than a second.
int sampling_depth(const triangulation& mesh, const size_rule& rule) {
  constexpr int most = 10;
  if (!rule.has_field()) return most;
  return std::clamp(static_cast<int>((18 - std::log2(static_cast<double>(mesh.triangles.size() + 1))) / 2), 3, most);
}

/// The bound of all areas with which `rule` asks for so many triangles.
double area_for(const triangulation& mesh, const size_rule& rule, std::uint64_t triangles, const pslg& input) {
  double area = 0;
  for (index t = 0; t < mesh.triangles.size(); ++t) area += twice_area(mesh, t) / 2;
  const auto wanted = static_cast<double>(triangles);
  if (const double least = expected_triangles(mesh, rule); least > wanted) {
    throw nacre::setup_error({fmt::format("{}--triangles {} is too few", place_of(input, 0), triangles),
                              fmt::format("regions, --size-at and --size ask for about {:.0f} already", least),
                              "ask for more triangles, or for larger ones there"});
  }
  double low = std::log(area / wanted) - 30, high = std::log(area) + 5;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (expected_triangles(mesh, rule.also_below(std::exp(middle))) > wanted ? low : high) = middle;
  }
  return std::exp(high);
}

/// A coarse mesh that has been refined as one part, with constrained sides that know their segments.
domain whole_again(const domain& previous, part&& refined) {
  domain whole;
  whole.regions = previous.regions;
  whole.wedges = previous.wedges;
  whole.mesh = std::move(refined.mesh);
  for (index t = 0; t < whole.mesh.triangles.size(); ++t) {
    for (unsigned k = 0; k < 3; ++k) {
      const side s = side_of(t, k);
      if (!whole.mesh.constrained(s)) continue;
      // refined.piece_of would look at the mesh that has been moved away.
      const index a = whole.mesh.origin(s), b = whole.mesh.target(s);
      const vertex &at_a = whole.mesh.vertices[a], &at_b = whole.mesh.vertices[b];
      std::uint32_t number = at_a.on_piece() ? at_a.place : at_b.on_piece() ? at_b.place : none;
      if (number == none) number = refined.whole_piece(a, b);
      whole.names.set(a, b, refined.pieces[number].segment);
    }
  }
  for (vertex& each : whole.mesh.vertices) {
    if (each.on_piece()) each.place = vertex::segment_mark | refined.pieces[each.place].segment;
    each.fraction = none;
  }
  return whole;
}

std::vector<double> weights_of(const triangulation& mesh, const size_rule& rule, weighing weighing) {
  std::vector<double> weights(mesh.triangles.size());
  for (index t = 0; t < mesh.triangles.size(); ++t) {
    weights[t] = weighing == weighing::area ? twice_area(mesh, t) : std::max(1e-9, expected_triangles(mesh, t, rule));
  }
  return weights;
}

[[noreturn]] void refuse_steep(const triangulation& mesh, double triangles, const std::string& size) {
  throw nacre::setup_error(text_of({.count = 1,
                                    .first = mesh.at(mesh.triangles.back().corner[0]),
                                    .triangles = static_cast<std::uint64_t>(std::min(triangles, 1e18))},
                                   size));
}

/// Cuts the domain into about `count` parts. While interfaces are shielded the number of the part is kept in the
/// region, which new triangles inherit.
std::vector<part> decompose(domain&& whole, const size_rule& rule, double expected, std::uint32_t count,
                            const options& asked) {
  if (!rule.refines()) {
    const std::vector<double> areas = weights_of(whole.mesh, rule, weighing::area);
    const std::vector<std::uint32_t> part_of = partition(whole.mesh, areas, std::nullopt, count);
    return cut_into_parts(whole, part_of, *std::max_element(part_of.begin(), part_of.end()) + 1);
  }
  find_wedges(whole);
  shield_small_angles(whole);
  std::vector<std::uint32_t> part_of(whole.mesh.triangles.size());
  if (count == 1) return cut_into_parts(whole, part_of, 1);
  const double area = whole.twice_area.value() / 2;
  const double coarse = coarse_a_subdomain * count;
  const size_rule coarse_rule = rule.bounds_area() ? rule.coarser(std::max(expected / coarse, 1e-6), coarse_degrees)
                                                   : rule.coarser(1, coarse_degrees);
  part single = std::move(cut_into_parts(whole, part_of, 1).front());
  const double share = triangles_per_bound * area / coarse * (rule.bounds_area() ? 8 : 1);
  const std::size_t most = rule.has_field() ? triangles_by_samples(coarse) : std::size_t{1} << 28;
  if (!refiner(single, coarse_rule.also_below(share)).refine(most) && rule.has_field()) {
    refuse_steep(single.mesh, static_cast<double>(single.mesh.triangles.size()), asked.size);
  }
  domain fine = whole_again(whole, std::move(single));
  const weighing weigh = rule.bounds_area() ? asked.weigh : weighing::area;
  part_of = partition(fine.mesh, weights_of(fine.mesh, rule, weigh), interface_degrees(rule.degrees()), count);
  const auto used = *std::max_element(part_of.begin(), part_of.end()) + 1;
  const auto regions = static_cast<std::uint32_t>(fine.regions.size());
  for (index t = 0; t < part_of.size(); ++t) {
    fine.mesh.triangles[t].region += part_of[t] * regions;
    for (unsigned k = 0; k < 3; ++k) {
      const side other = fine.mesh.triangles[t].twin[k];
      if (other != none && part_of[triangle_of(other)] != part_of[t]) fine.mesh.constrain(side_of(t, k));
    }
  }
  shield_small_angles(fine);
  part_of.resize(fine.mesh.triangles.size());
  for (index t = 0; t < part_of.size(); ++t) {
    part_of[t] = fine.mesh.triangles[t].region / regions;
    fine.mesh.triangles[t].region %= regions;
  }
  return cut_into_parts(fine, part_of, used);
}

/// The pieces of each segment must lead from one of its ends to the other one. `placed` are the points of the input.
std::vector<std::string> segments_not_covered(const pslg& input, const std::vector<point>& placed,
                                              const std::vector<std::uint8_t>& incomplete, const plan& plan) {
  using place = std::pair<double, double>;
  std::vector<std::map<place, int>> ends(input.segments.size());  // how often it is an end of a piece
  std::vector<std::uint8_t> counted(plan.pieces);                 // a piece may belong to two parts
  for (const part& each : plan.parts) {
    for (const piece& one : each.pieces) {
      if (one.segment == none || std::exchange(counted[one.name], std::uint8_t{1}) != 0) continue;
      ++ends[one.segment][{one.from_at.x, one.from_at.y}];
      ++ends[one.segment][{one.to_at.x, one.to_at.y}];
    }
  }
  std::vector<std::string> faults;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    if (incomplete[k] != 0) continue;
    const point &source = placed[input.segments[k].begin], &target = placed[input.segments[k].end];
    bool whole = ends[k].size() >= 2;
    for (const auto& [vertex, count] : ends[k]) {
      const bool is_end = vertex == place(source.x, source.y) || vertex == place(target.x, target.y);
      whole = whole && count == (is_end ? 1 : 2);
    }
    if (!whole) faults.push_back(fmt::format("segment {} of the input is not covered", input.segments[k].name));
  }
  return faults;
}

/// Refuses a field that had no usable value where it was asked, or one of which the finer triangles of a part tell far
/// more than the samples of the whole did.
void demand_sound_field(const plan& plan, const std::string& size) {
  if (plan.field == nullptr) return;
  if (const field_faults field_faults = plan.field->faults(); field_faults.count > 0) {
    throw nacre::setup_error(text_of(field_faults, size));
  }
  const auto most = static_cast<double>(triangles_by_samples(plan.size.triangles_expected));
  for (std::size_t k = 0; k < plan.expected.size(); ++k) {
    if (plan.expected[k] > most) refuse_steep(plan.parts[k].mesh, plan.expected[k], size);
  }
}

/// A picture in grey covers the box around all points of the input.
void lay_over_points(raster_grid& grid, const pslg& input) {
  point low = input.points.front().position, high = low;
  for (const auto& each : input.points) {
    low = {std::min(low.x, each.position.x), std::min(low.y, each.position.y)};
    high = {std::max(high.x, each.position.x), std::max(high.y, each.position.y)};
  }
  lay_over(grid, low, high);
}

void attach_field(plan& plan, const pslg& input, const std::string& size) {
  plan.size = describe_size(size);
  if (plan.size.over_domain) lay_over_points(plan.size.raster, input);
  plan.field = make_field(plan.size);
  plan.rule.attach(plan.field.get());
}

/// Refuses more triangles than can be numbered, or than fit into memory.
void demand_possible(double expected, double memory_bytes, const std::string& place) {
  constexpr double most = 1e11;
  if (expected > most) {
    throw nacre::setup_error({fmt::format("{}the bounds ask for {:.3g} triangles", place, expected),
                              fmt::format("at most {:.0g} are possible", most), "allow larger triangles"});
  }
  meshing::demand_memory({.elements = expected,
                          .bytes_each = bytes_expected,
                          .memory_bytes = memory_bytes,
                          .place = place,
                          .name = "triangles",
                          .remedy = "allow larger triangles, or take more hosts"});
}

}  // namespace

double expected_triangles(const triangulation& mesh, index t, const size_rule& rule) {
  if (!rule.bounds_area()) return 0;
  const auto& [a, b, c] = mesh.triangles[t].corner;
  return expected_in({mesh.at(a), mesh.at(b), mesh.at(c)}, mesh.triangles[t].region, rule, sampling_depth(mesh, rule));
}

double expected_triangles(const triangulation& mesh, const size_rule& rule) {
  double sum = 0;
  for (index t = 0; t < mesh.triangles.size(); ++t) sum += expected_triangles(mesh, t, rule);
  return sum;
}

raster_frame frame_of(const plan& plan, std::uint32_t width) {
  constexpr double far = std::numeric_limits<double>::max();
  point low{far, far}, high{-far, -far};
  for (const part& each : plan.parts) {
    for (const vertex& v : each.mesh.vertices) {
      low = {std::min(low.x, v.position.x), std::min(low.y, v.position.y)};
      high = {std::max(high.x, v.position.x), std::max(high.y, v.position.y)};
    }
  }
  return frame_around(low, high, width);
}

plan make_plan(const pslg& input, const options& asked, double memory_bytes) {
  domain whole = make_domain(input);
  plan result;
  result.rule = asked.no_refine ? size_rule::without_refinement(whole.regions)
                                : size_rule(asked.degrees, asked.area_max, whole.regions, asked.sources);
  if (!asked.size.empty()) attach_field(result, input, asked.size);
  result.area_max = asked.area_max;
  if (asked.triangles > 0) {
    result.area_max = area_for(whole.mesh, result.rule, asked.triangles, input);
    result.rule = result.rule.also_below(result.area_max);
  }
  const double expected = expected_triangles(whole.mesh, result.rule);
  demand_sound_field(result, asked.size);
  result.size.triangles_expected = expected;
  demand_possible(expected, memory_bytes, place_of(input, 0));
  const auto count = asked.subdomains != 0
                         ? asked.subdomains
                         : static_cast<std::uint32_t>(std::clamp(expected / triangles_a_subdomain, 1.0, 4096.0));
  const std::size_t pairs = static_cast<std::size_t>(count) * whole.regions.size();
  if (pairs >= none || expected / count > 0.8 * static_cast<double>(part::triangles_max)) {
    throw nacre::setup_error({fmt::format("{}{} subdomains cannot hold the mesh", place_of(input, 0), count),
                              "one holds 500 million triangles at most, and all hold 4 billion pairs with regions",
                              fmt::format("try --subdomains {:.0f}", std::ceil(expected / 1e7) + 1)});
  }
  result.twice_area = whole.twice_area;
  result.regions = whole.regions;
  result.notes = whole.notes;
  const std::vector<std::uint8_t> incomplete = whole.incomplete;
  const std::vector<point> placed = whole.points;
  result.parts = decompose(std::move(whole), result.rule, expected, count, asked);
  if (asked.subdomains > result.parts.size()) {
    result.notes.push_back(fmt::format("the domain has {} subdomains: its {} has no more", result.parts.size(),
                                       asked.no_refine ? "triangulation" : "coarse mesh"));
  }
  for (const part& each : result.parts) {
    result.expected.push_back(expected_triangles(each.mesh, result.rule));
    for (const piece& one : each.pieces) result.pieces = std::max(result.pieces, one.name + 1);
  }
  demand_sound_field(result, asked.size);
  result.faults = segments_not_covered(input, placed, incomplete, result);
  return result;
}

}  // namespace mesh2d
