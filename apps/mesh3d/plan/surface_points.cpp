// SPDX-License-Identifier: Apache-2.0
// Divides edges, and samples faces by darts.
#include "plan/surface_points.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

namespace mesh3d {
namespace {

/// The least distance of two points on a face, as a part of the length that edges should have.
constexpr double distance_factor = 0.75;
/// Darts fly to cells that are smaller than the length by this factor.
constexpr double cells_a_length = 4;

double& coordinate(point& p, unsigned axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }
double coordinate(const point& p, unsigned axis) { return axis == 0 ? p.x : axis == 1 ? p.y : p.z; }

std::uint64_t mixed(std::uint64_t a) {
  a = (a ^ a >> 30) * 0xbf58476d1ce4e5b9u;
  a = (a ^ a >> 27) * 0x94d049bb133111ebu;
  return a ^ a >> 31;
}
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
  [[nodiscard]] std::size_t row_of(double u) const {
    return std::min(static_cast<std::size_t>(std::max(u, 0.0) / extent_ * static_cast<double>(rows_)), rows_ - 1);
  }
  [[nodiscard]] bool is_free(const dart& at) const;

  cube_face face_;
  const size_field& size_;
  double extent_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::pair<place_on_face, place_on_face>> steps_{};  // of the sides
  std::vector<dart> darts_{};
  std::size_t rows_ = 1;
  std::vector<std::vector<place_on_face>> grid_{};
};

face_sampler::face_sampler(const cube_face& face, const std::vector<cube_edge>& edges, const size_field& size)
    : face_(face), size_(size), extent_(to_length(face.size)) {
  for (const std::uint32_t each : {face.low[0], face.low[1], face.low[2], face.size, face.axis}) {
    seed_ = mixed(seed_ + each + 0x9e3779b97f4a7c15u);
  }
  throw_darts(1, 0, 0, extent_);
  rows_ = std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(static_cast<double>(darts_.size())) / 3));
  grid_.resize(rows_ * rows_);
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
        const place_on_face here = on_face(chain[k]);
        add(here.u, here.v);
        if (k > 0) steps_.emplace_back(on_face(chain[k - 1]), here);
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

void face_sampler::add(double u, double v) { grid_[row_of(u) * rows_ + row_of(v)].push_back({u, v}); }

/// A dart for each cell of a quadtree that is as fine as the field wants it. `path` names the cell.
void face_sampler::throw_darts(std::uint64_t path, double u, double v, double width) {
  const double half = width / 2;
  if (width * cells_a_length > length_at(u + half, v + half)) {
    for (std::uint64_t k = 0; k < 4; ++k) {
      throw_darts(path * 4 + k, u + static_cast<double>(k & 1) * half, v + static_cast<double>(k >> 1) * half, half);
    }
    return;
  }
  const std::uint64_t first = mixed(seed_ ^ mixed(path)), second = mixed(first + 1), third = mixed(first + 2);
  darts_.push_back({first, u + width * uniform(second), v + width * uniform(third)});
}

bool face_sampler::is_free(const dart& at) const {
  const double distance = distance_factor * length_at(at.u, at.v);
  for (std::size_t i = row_of(at.u - distance); i <= row_of(at.u + distance); ++i) {
    for (std::size_t j = row_of(at.v - distance); j <= row_of(at.v + distance); ++j) {
      for (const place_on_face& other : grid_[i * rows_ + j]) {
        const double du = other.u - at.u, dv = other.v - at.v;
        if (du * du + dv * dv < distance * distance) return false;
      }
    }
  }
  return std::none_of(steps_.begin(), steps_.end(), [&](const auto& step) {
    const auto& [a, b] = step;
    const double length = std::abs(a.u - b.u) + std::abs(a.v - b.v);  // one of both is 0
    return (a.u - at.u) * (b.u - at.u) + (a.v - at.v) * (b.v - at.v) <= 1e-3 * length * length;
  });
}

std::vector<point> face_sampler::sample() {
  std::sort(darts_.begin(), darts_.end(),
            [](const dart& a, const dart& b) { return std::tie(a.order, a.u, a.v) < std::tie(b.order, b.u, b.v); });
  std::vector<point> points;
  for (const dart& each : darts_) {
    if (!is_free(each)) continue;
    add(each.u, each.v);
    points.push_back(in_space(each.u, each.v));
  }
  return points;
}

}  // namespace

std::vector<point> points_within(const cube_edge& edge, const size_field& size) {
  const double extent = to_length(edge.size);
  const point low = to_point(edge.low);
  const auto at = [&](double t) {
    point p = low;
    coordinate(p, edge.axis) += t * extent;
    return p;
  };
  std::vector<double> sums;
  const auto integrate = [&](std::size_t count) {
    sums.assign(1, 0);
    const double step = 1 / static_cast<double>(count);
    for (std::size_t k = 0; k < count; ++k) {
      const double length = std::min(size.at(at((static_cast<double>(k) + 0.5) * step)), extent / steps_min);
      sums.push_back(sums.back() + step * extent / length);
    }
  };
  integrate(64);
  if (sums.back() > 16) integrate(static_cast<std::size_t>(4 * std::min(sums.back(), 1e7)));
  const auto steps = static_cast<std::size_t>(std::ceil(sums.back() * (1 - 1e-9)));
  std::vector<point> points;
  std::size_t k = 0;
  for (std::size_t n = 1; n < steps; ++n) {
    const double wanted = sums.back() * static_cast<double>(n) / static_cast<double>(steps);
    while (sums[k + 1] < wanted) ++k;
    const double within = (wanted - sums[k]) / (sums[k + 1] - sums[k]);
    points.push_back(at((static_cast<double>(k) + within) / static_cast<double>(sums.size() - 1)));
  }
  return points;
}

std::vector<point> points_within(const cube_face& face, const std::vector<cube_edge>& edges, const size_field& size) {
  return face_sampler(face, edges, size).sample();
}

std::vector<point> surface_points(const leaf_plan& leaf, const size_field& size) {
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
