// SPDX-License-Identifier: Apache-2.0
// The handlers of a subdomain.
#include "parallel/subdomain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/delaunay.hpp"
#include "plan/surface_points.hpp"

namespace mesh3d {
namespace {

/// Points that a handler inserts: some milliseconds, in which nobody else gets the worker, and the object stays.
constexpr std::size_t points_a_slice = 500;
/// The costs that a simulation charges.
constexpr double seconds_a_tetrahedron = 1e-6, seconds_a_surface_point = 8e-6;

}  // namespace

subdomain_counts subdomain_counts::sum(const subdomain_counts& a, const subdomain_counts& b) {
  return {a.tetrahedra + b.tetrahedra, a.vertices + b.vertices, a.bytes + b.bytes};
}

void subdomain::begin(nacre::context& ctx, const array& all, nacre::group_ptr<rank_clock> clocks, leaf_plan leaf,
                      const quality_rule& rule, double expected) {
  all_ = all;
  clocks_ = clocks;
  leaf_ = std::move(leaf);
  rule_ = rule;
  expected_ = expected;
  stage_ = stage::planned;
  ctx.send<&subdomain::go_on>(ctx.self<subdomain>());
}

void subdomain::go_on(nacre::context& ctx) {
  const double started = ctx.now();
  if (stage_ == stage::planned) {
    const double side = to_length(leaf_.box.size);
    const point low = to_point(leaf_.box.low);
    const std::vector<point> points = surface_points(leaf_, rule_.size);
    mesh_ = triangulate(low, low + point{side, side, side}, points);
    stage_ = stage::meshed;
    ctx.charge(static_cast<double>(points.size()) * seconds_a_surface_point);
  } else {
    const std::size_t before = mesh_.count();
    if (refiner(mesh_, rule_).refine(state_, points_a_slice)) stage_ = stage::refined;
    ctx.charge(static_cast<double>(mesh_.count() - before) * seconds_a_tetrahedron);
  }
  const double seconds = ctx.now() - started;
  seconds_ += seconds;
  ctx.local(clocks_).add(seconds);
  if (stage_ != stage::refined) ctx.send<&subdomain::go_on>(ctx.self<subdomain>());
}

std::vector<std::uint32_t> subdomain::neighbours() const {
  std::vector<std::uint32_t> made;
  for (const cube_face& face : leaf_.faces) {
    if (face.neighbour != cube_face::nobody) made.push_back(face.neighbour);
  }
  std::sort(made.begin(), made.end());
  made.erase(std::unique(made.begin(), made.end()), made.end());
  return made;
}

std::vector<std::vector<shared_triangle>> subdomain::shared_with(std::uint32_t neighbour) {
  if (hull_.empty()) hull_ = hull_triangles(mesh_, leaf_);
  std::vector<std::vector<shared_triangle>> made;
  for (std::size_t k = 0; k < leaf_.faces.size(); ++k) {
    if (leaf_.faces[k].neighbour == neighbour) made.push_back(hull_[k]);
  }
  return made;
}

void subdomain::check(nacre::context& ctx) {
  found_.merge(check_leaf(mesh_, leaf_, rule_));  // a neighbour may have compared first
  for (const std::uint32_t neighbour : neighbours()) {
    ctx.send<&subdomain::compare>(all_[{neighbour}], leaf_.number, shared_with(neighbour));
  }
}

void subdomain::compare(std::uint32_t neighbour, const std::vector<std::vector<shared_triangle>>& theirs) {
  const auto mine = shared_with(neighbour);
  ++compared_;
  if (mine.size() != theirs.size() || mine.empty()) {
    found_.fault(fmt::format("subdomains {} and {} share different faces", leaf_.number, neighbour));
  } else if (mine != theirs) {
    found_.fault(fmt::format("a face between subdomains {} and {} does not match", leaf_.number, neighbour));
  }
}

findings subdomain::found() const {
  findings all = found_;
  if (compared_ != neighbours().size()) {
    all.fault(fmt::format("subdomain {} was compared with {} neighbours of {}", leaf_.number, compared_,
                          neighbours().size()));
  }
  return all;
}

subdomain_counts subdomain::counts() const {
  const std::size_t bytes = mesh_.tetrahedra.size() * sizeof(tetrahedron) + mesh_.vertices.size() * sizeof(point);
  return {mesh_.count(), mesh_.vertices.size(), bytes};
}

subdomain_cost subdomain::cost() const { return {seconds_, mesh_.count(), counts().bytes}; }

mesh_copy subdomain::copy(nacre::context& ctx) const {
  mesh_copy made{.points = mesh_.vertices, .rank = ctx.rank().value()};
  made.on_hull.resize(made.points.size());
  for (index t = 0; t < mesh_.tetrahedra.size(); ++t) {
    if (!mesh_.in_use(t)) continue;
    made.tetrahedra.push_back(mesh_.tetrahedra[t].corner);
    for (unsigned k = 0; k < 4; ++k) {
      if (mesh_.twin(facet_of(t, k)) != none) continue;
      for (const index v : mesh_.corners(facet_of(t, k))) made.on_hull[v] = 1;
    }
  }
  return made;
}

double subdomain::load() const {
  if (stage_ == stage::empty || stage_ == stage::refined) return 0;
  return std::max(expected_ - static_cast<double>(mesh_.count()), static_cast<double>(points_a_slice));
}

}  // namespace mesh3d
