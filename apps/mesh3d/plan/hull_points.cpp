// SPDX-License-Identifier: Apache-2.0
// Divides edges, and samples faces by darts.
#include "plan/hull_points.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "meshing/mixed_bits.hpp"
#include "plan/crossings_of_hull.hpp"

namespace mesh3d {
namespace {

/// The least distance of two points on a face, as a part of the length that edges should have.
constexpr double distance_factor = 0.75;
/// Darts fly to cells that are smaller than the length by this factor.
constexpr double cells_a_length = 4;
/// Points on the curve where the input surface meets a face keep `curve_factor` lengths from others, and points beside
/// the curve keep `beside_factor` from it: more than half of the gap between points on the curve, so that each place on
/// the curve is nearest to one of these. Points where the surface meets an edge keep `edge_factor` from others.
constexpr double curve_factor = 0.5, beside_factor = 0.55, edge_factor = 0.3;
/// Darts at the curve fly to places that are nearer to each other than the length by this factor.
constexpr double darts_a_length = 8;

double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

bool lies_on(const cube_edge& edge, const cube_edge& side) {
  if (edge.axis != side.axis) return false;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (axis != edge.axis && edge.low[axis] != side.low[axis]) return false;
  }
  return edge.low[edge.axis] >= side.low[edge.axis] &&
         edge.low[edge.axis] + edge.size <= side.low[edge.axis] + side.size;
}

/// A place where a point may be, and the order in which they are tried.
struct dart {
  std::uint64_t order;
  double u, v;  // on the face
};

/// The sides of a face as chains of points, and a grid that finds points near to others.
class face_sampler {
 public:
  face_sampler(const cube_face& face, const std::vector<cube_edge>& edges, const size_field& size);
  std::vector<point> sample();

 private:
  struct place_on_face {
    double u, v;
  };
  [[nodiscard]] point in_space(double u, double v) const;
  [[nodiscard]] double length_at(double u, double v) const {
    return std::min(size_.at(in_space(u, v)), extent_ / steps_min);
  }
  void add(double u, double v);
  void throw_darts(std::uint64_t path, double u, double v, double width);
  void throw_darts_at_curve();
  void sample(std::vector<dart>& darts, double factor, std::vector<point>& points);
  [[nodiscard]] std::size_t row_of(double u) const {
    return std::min(static_cast<std::size_t>(std::max(u, 0.0) / extent_ * static_cast<double>(rows_)), rows_ - 1);
  }
  using grid = std::vector<std::vector<place_on_face>>;
  [[nodiscard]] bool keeps_from(const grid& others, const dart& dart, double distance) const;
  [[nodiscard]] bool lies_in_circle(const dart& dart) const;

  cube_face face_;
  const size_field& size_;
  double extent_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::pair<place_on_face, place_on_face>> steps_{};  // of the sides
  std::vector<dart> darts_{}, curve_darts_{};
  std::size_t rows_ = 1;
  grid points_{}, curve_{};
};

face_sampler::face_sampler(const cube_face& face, const std::vector<cube_edge>& edges, const size_field& size)
    : face_(face), size_(size), extent_(to_length(face.size)) {
  for (const std::uint32_t each : {face.low[0], face.low[1], face.low[2], face.size, face.axis}) {
    seed_ = meshing::mixed_bits(seed_ + each + 0x9e3779b97f4a7c15u);
  }
  throw_darts(1, 0, 0, extent_);
  rows_ = std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(static_cast<double>(darts_.size())) / 3));
  points_.resize(rows_ * rows_);
  curve_.resize(rows_ * rows_);
  if (size.surface != nullptr) throw_darts_at_curve();
  const unsigned first = (face.axis + 1) % 3, second = (face.axis + 2) % 3;
  const point low = to_point(face.low);
  const auto on_face = [&](const point& p) {
    return place_on_face{coordinate(p, first) - coordinate(low, first),
                         coordinate(p, second) - coordinate(low, second)};
  };
  for (const cube_edge& side : sides_of(face)) {
    for (const cube_edge& edge : edges) {
      if (!lies_on(edge, side)) continue;
      place end = edge.low;
      end[edge.axis] += edge.size;
      std::vector<point> chain{to_point(edge.low)};
      for (const point& each : points_within(edge, size)) chain.push_back(each);
      chain.push_back(to_point(end));
      for (std::size_t k = 0; k < chain.size(); ++k) {
        const place_on_face site = on_face(chain[k]);
        add(site.u, site.v);
        if (k > 0) steps_.emplace_back(on_face(chain[k - 1]), site);
      }
    }
  }
}

point face_sampler::in_space(double u, double v) const {
  point p = to_point(face_.low);
  coordinate(p, (face_.axis + 1) % 3) += u;
  coordinate(p, (face_.axis + 2) % 3) += v;
  return p;
}

void face_sampler::add(double u, double v) { points_[row_of(u) * rows_ + row_of(v)].push_back({u, v}); }

/// A dart for each cell of a quadtree that is as fine as the field wants it. `path` names the cell.
void face_sampler::throw_darts(std::uint64_t path, double u, double v, double width) {
  const double half = width / 2;
  if (width * cells_a_length > length_at(u + half, v + half)) {
    for (std::uint64_t k = 0; k < 4; ++k) {
      throw_darts(path * 4 + k, u + static_cast<double>(k & 1) * half, v + static_cast<double>(k >> 1) * half, half);
    }
    return;
  }
  const std::uint64_t first = meshing::mixed_bits(seed_ ^ meshing::mixed_bits(path)),
                      second = meshing::mixed_bits(first + 1), third = meshing::mixed_bits(first + 2);
  darts_.push_back({first, u + width * uniform(second), v + width * uniform(third)});
}

/// Places all along the curve, which others keep away from, too.
void face_sampler::throw_darts_at_curve() {
  const unsigned first = (face_.axis + 1) % 3, second = (face_.axis + 2) % 3;
  const point low = to_point(face_.low);
  for (const auto& [begin, end] : curve_on(face_, *size_.surface)) {
    const double length = std::sqrt(squared_length(end - begin));
    const point middle = (begin + end) * 0.5;
    const double wanted = length_at(coordinate(middle, first) - coordinate(low, first),
                                    coordinate(middle, second) - coordinate(low, second));
    const auto steps = static_cast<std::uint64_t>(std::ceil(length * darts_a_length / wanted)) + 1;
    for (std::uint64_t k = 0; k <= steps; ++k) {
      const point p = begin + (end - begin) * (static_cast<double>(k) / static_cast<double>(steps));
      const double u = coordinate(p, first) - coordinate(low, first),
                   v = coordinate(p, second) - coordinate(low, second);
      if (u <= 0 || v <= 0 || u >= extent_ || v >= extent_) continue;
      const std::uint64_t order = meshing::mixed_bits(meshing::mixed_bits(seed_ + std::bit_cast<std::uint64_t>(u)) +
                                                      std::bit_cast<std::uint64_t>(v));
      curve_darts_.push_back({order, u, v});
      curve_[row_of(u) * rows_ + row_of(v)].push_back({u, v});
    }
  }
}

bool face_sampler::keeps_from(const grid& others, const dart& dart, double distance) const {
  for (std::size_t i = row_of(dart.u - distance); i <= row_of(dart.u + distance); ++i) {
    for (std::size_t j = row_of(dart.v - distance); j <= row_of(dart.v + distance); ++j) {
      for (const place_on_face& other : others[i * rows_ + j]) {
        const double du = other.u - dart.u, dv = other.v - dart.v;
        if (du * du + dv * dv < distance * distance) return false;
      }
    }
  }
  return true;
}

/// Over a step of a side.
bool face_sampler::lies_in_circle(const dart& dart) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const auto& step) {
    const auto& [a, b] = step;
    const double length = std::abs(a.u - b.u) + std::abs(a.v - b.v);  // one of both is 0
    return (a.u - dart.u) * (b.u - dart.u) + (a.v - dart.v) * (b.v - dart.v) <= 1e-3 * length * length;
  });
}

void face_sampler::sample(std::vector<dart>& darts, double factor, std::vector<point>& points) {
  std::sort(darts.begin(), darts.end(),
            [](const dart& a, const dart& b) { return std::tie(a.order, a.u, a.v) < std::tie(b.order, b.u, b.v); });
  for (const dart& each : darts) {
    if (!keeps_from(points_, each, factor * length_at(each.u, each.v)) || lies_in_circle(each)) continue;
    add(each.u, each.v);
    points.push_back(in_space(each.u, each.v));
  }
}

std::vector<point> face_sampler::sample() {
  std::vector<point> points;
  sample(curve_darts_, curve_factor, points);
  std::erase_if(darts_,
                [&](const dart& each) { return !keeps_from(curve_, each, beside_factor * length_at(each.u, each.v)); });
  sample(darts_, distance_factor, points);
  return points;
}

/// Divides the part of the edge between two places, which are parts of its way.
class edge_divider {
 public:
  edge_divider(const cube_edge& edge, const size_field& size)
      : low_(to_point(edge.low)), extent_(to_length(edge.size)), axis_(edge.axis), size_(size) {}
  [[nodiscard]] point at(double t) const {
    point p = low_;
    coordinate(p, axis_) += t * extent_;
    return p;
  }
  [[nodiscard]] double length_at(double t) const { return std::min(size_.at(at(t)), extent_ / steps_min); }

  void divide(double source, double end, std::vector<point>& points) {
    integrate(source, end, 64);
    if (sums_.back() > 16) integrate(source, end, static_cast<std::size_t>(4 * std::min(sums_.back(), 1e7)));
    const auto steps = static_cast<std::size_t>(std::ceil(sums_.back() * (1 - 1e-9)));
    std::size_t k = 0;
    for (std::size_t n = 1; n < steps; ++n) {
      const double wanted = sums_.back() * static_cast<double>(n) / static_cast<double>(steps);
      while (sums_[k + 1] < wanted) ++k;
      const double limit = (wanted - sums_[k]) / (sums_[k + 1] - sums_[k]);
      const double part = (static_cast<double>(k) + limit) / static_cast<double>(sums_.size() - 1);
      points.push_back(at(source + (end - source) * part));
    }
  }

 private:
  void integrate(double source, double end, std::size_t count) {
    sums_.assign(1, 0);
    const double step = (end - source) / static_cast<double>(count);
    for (std::size_t k = 0; k < count; ++k) {
      sums_.push_back(sums_.back() + step * extent_ / length_at(source + (static_cast<double>(k) + 0.5) * step));
    }
  }

  point low_;
  double extent_;
  std::uint32_t axis_;
  const size_field& size_;
  std::vector<double> sums_{};
};

}  // namespace

std::vector<point> points_within(const cube_edge& edge, const size_field& size) {
  edge_divider divider(edge, size);
  std::vector<point> points;
  double source = 0;
  if (size.surface != nullptr) {
    for (const double t : crossings_of(edge, *size.surface)) {
      const double apart = edge_factor * divider.length_at(t) / to_length(edge.size);
      if (t - source < apart || 1 - t < apart) continue;
      divider.divide(source, t, points);
      points.push_back(divider.at(t));
      source = t;
    }
  }
  divider.divide(source, 1, points);
  return points;
}

std::vector<point> points_within(const cube_face& face, const std::vector<cube_edge>& edges, const size_field& size) {
  return face_sampler(face, edges, size).sample();
}

std::vector<point> hull_points(const leaf_plan& leaf, const size_field& size) {
  std::vector<point> points;
  const auto add = [&](const std::vector<point>& more) { points.insert(points.end(), more.begin(), more.end()); };
  for (const cube_edge& edge : leaf.edges) {
    place end = edge.low;
    end[edge.axis] += edge.size;
    add({to_point(edge.low), to_point(end)});  // ends within an edge of the leaf are vertices, too
    add(points_within(edge, size));
  }
  for (const cube_face& face : leaf.faces) add(points_within(face, leaf.edges, size));
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace mesh3d
