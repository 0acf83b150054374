// SPDX-License-Identifier: Apache-2.0
// The handlers of a subdomain.
#include "parallel/subdomain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/delaunay.hpp"
#include "plan/hull_points.hpp"

namespace mesh3d {
namespace {

/// Points that a handler inserts: some milliseconds, in which nobody else gets the worker, and the object stays.
constexpr std::size_t points_a_slice = 500;
/// The costs that a simulation charges.
constexpr std::size_t sides_a_slice = 5000;  // tetrahedra
constexpr double seconds_a_side = 1e-6, seconds_with_surface = 6e-6, seconds_a_tetrahedron = 1e-6,
                 seconds_a_hull_point = 8e-6;

}  // namespace

subdomain_counts subdomain_counts::sum(const subdomain_counts& a, const subdomain_counts& b) {
  return {a.tetrahedra + b.tetrahedra, a.vertices + b.vertices, a.bytes + b.bytes, a.inner + b.inner};
}

void subdomain::begin(nacre::context& ctx, const array& all, const subdomain_groups& groups, leaf_plan leaf,
                      const quality_rule& rule, double expected) {
  all_ = all;
  groups_ = groups;
  leaf_ = std::move(leaf);
  rule_ = rule;
  expected_ = expected;
  stage_ = stage::planned;
  ctx.send<&subdomain::go_on>(ctx.self<subdomain>());
}

void subdomain::find_surface(nacre::context& ctx) {
  const auto& known = ctx.local(groups_.surfaces).known;
  rule_.size.surface = known == nullptr ? nullptr : &known->tree();
}

void subdomain::end_stage() {
  state_ = {};
  if (stage_ == stage::meshed && rule_.sliver_degrees > 0) {
    stage_ = stage::refined;
    for (index t = 0; t < mesh_.tetrahedra.size(); ++t) {
      if (!mesh_.in_use(t)) continue;
      const auto& [a, b, c, d] = mesh_.tetrahedra[t].corner;
      add_angles({mesh_.at(a), mesh_.at(b), mesh_.at(c), mesh_.at(d)}, unsplit_);
    }
  } else {
    stage_ = rule_.size.surface == nullptr ? stage::done : stage::split;
  }
}

/// Of as many tetrahedra as a slice has points.
void subdomain::tell_sides() {
  const refiner judge(mesh_, rule_);
  const std::size_t end = std::min(mesh_.tetrahedra.size(), inner_.size() + sides_a_slice);
  for (auto t = static_cast<index>(inner_.size()); t < end; ++t) {
    inner_.push_back(mesh_.in_use(t) && judge.is_inside(t) ? 1 : 0);
  }
  if (end == mesh_.tetrahedra.size()) stage_ = stage::told;
}

void subdomain::mend_sides() {
  const auto progress = side_mender(mesh_, rule_, inner_, turned_).mend(mending_, sides_a_slice);
  if (progress == side_mender::progress::done) stage_ = stage::done;
  if (progress != side_mender::progress::inserted) return;
  stage_ = stage::meshed;
  inner_.clear();
  unsplit_ = {};
}

void subdomain::go_on(nacre::context& ctx) {
  const double started = ctx.now();
  find_surface(ctx);
  if (stage_ == stage::planned) {
    const double side = to_length(leaf_.box.size);
    const point low = to_point(leaf_.box.low);
    const std::vector<point> points = hull_points(leaf_, rule_.size);
    mesh_ = triangulate(low, low + point{side, side, side}, points);
    stage_ = stage::meshed;
    ctx.charge(static_cast<double>(points.size()) * seconds_a_hull_point);
  } else if (stage_ == stage::meshed || stage_ == stage::refined) {
    const std::size_t previous = mesh_.count();
    const auto pass = stage_ == stage::meshed ? refiner::pass::sizes : refiner::pass::slivers;
    if (refiner(mesh_, rule_, pass).refine(state_, points_a_slice)) end_stage();
    const double seconds_each = rule_.size.surface == nullptr ? seconds_a_tetrahedron : seconds_with_surface;
    ctx.charge(static_cast<double>(mesh_.count() - previous) * seconds_each);
  } else {
    stage_ == stage::split ? tell_sides() : mend_sides();
    ctx.charge(static_cast<double>(sides_a_slice) * seconds_a_side);
  }
  const double seconds = ctx.now() - started;
  seconds_ += seconds;
  ctx.local(groups_.clocks).add(seconds);
  if (stage_ != stage::done) ctx.send<&subdomain::go_on>(ctx.self<subdomain>());
}

std::vector<std::uint32_t> subdomain::neighbours() const {
  std::vector<std::uint32_t> values;
  for (const cube_face& face : leaf_.faces) {
    if (face.neighbour != cube_face::nobody) values.push_back(face.neighbour);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::vector<shared_triangle>> subdomain::shared_with(std::uint32_t neighbour) {
  if (hull_.empty()) hull_ = hull_triangles(mesh_, leaf_, inner_);
  std::vector<std::vector<shared_triangle>> shared_triangles;
  for (std::size_t k = 0; k < leaf_.faces.size(); ++k) {
    if (leaf_.faces[k].neighbour == neighbour) shared_triangles.push_back(hull_[k]);
  }
  return shared_triangles;
}

void subdomain::check(nacre::context& ctx) {
  find_surface(ctx);
  findings findings = check_leaf(mesh_, leaf_, rule_);
  if (rule_.size.surface != nullptr) check_sides(mesh_, rule_, inner_, turned_, findings, boundary_);
  findings.unsplit = unsplit_;
  findings_.merge(findings);  // a neighbour may have compared first
  for (const std::uint32_t neighbour : neighbours()) {
    ctx.send<&subdomain::compare>(all_[{neighbour}], leaf_.number, shared_with(neighbour));
  }
}

void subdomain::compare(nacre::context& ctx, std::uint32_t neighbour,
                        const std::vector<std::vector<shared_triangle>>& theirs) {
  find_surface(ctx);
  const auto mine = shared_with(neighbour);
  ++compared_;
  if (mine.size() != theirs.size() || mine.empty()) {
    findings_.fault(fmt::format("subdomains {} and {} share different faces", leaf_.number, neighbour));
    return;
  }
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const bool same =
        std::equal(mine[k].begin(), mine[k].end(), theirs[k].begin(), theirs[k].end(),
                   [](const shared_triangle& a, const shared_triangle& b) { return a.corner == b.corner; });
    if (!same) {
      findings_.fault(fmt::format("a face between subdomains {} and {} does not match", leaf_.number, neighbour));
      continue;
    }
    for (std::size_t n = 0; n < mine[k].size(); ++n) {
      if (mine[k][n].inner <= theirs[k][n].inner) continue;
      boundary_.push_back(mine[k][n].corner);
      measure_boundary(boundary_.back(), rule_.size, findings_.surface);
    }
  }
}

void subdomain::measure_surface(nacre::context& ctx) {
  find_surface(ctx);
  const double side = to_length(leaf_.box.size);
  const point low = to_point(leaf_.box.low);
  mesh3d::measure_surface({low, low + point{side, side, side}}, ctx.local(groups_.surfaces).boundary->tree(),
                          rule_.size, findings_.surface);
}

findings subdomain::found() const {
  findings all = findings_;
  if (compared_ != neighbours().size()) {
    all.fault(fmt::format("subdomain {} was compared with {} neighbours of {}", leaf_.number, compared_,
                          neighbours().size()));
  }
  return all;
}

subdomain_counts subdomain::counts() const {
  const std::size_t bytes = mesh_.tetrahedra.size() * sizeof(tetrahedron) + mesh_.vertices.size() * sizeof(point);
  const auto inner = static_cast<std::uint64_t>(std::count(inner_.begin(), inner_.end(), 1));
  return {mesh_.count(), mesh_.vertices.size(), bytes + inner_.size(), inner};
}

subdomain_cost subdomain::cost() const { return {seconds_, mesh_.count(), counts().bytes}; }

mesh_copy subdomain::copy(nacre::context& ctx, sides keep) const {
  mesh_copy copy{.points = mesh_.vertices, .rank = ctx.rank().value()};
  copy.on_hull.resize(copy.points.size());
  for (index t = 0; t < mesh_.tetrahedra.size(); ++t) {
    if (!mesh_.in_use(t)) continue;
    const bool inner = !inner_.empty() && inner_[t] != 0;
    if (inner_.empty() || keep == sides::both || inner == (keep == sides::inside)) {
      copy.tetrahedra.push_back(mesh_.tetrahedra[t].corner);
      copy.inner.push_back(inner ? 1 : 0);
    }
    for (unsigned k = 0; k < 4; ++k) {
      if (mesh_.twin(facet_of(t, k)) != none) continue;
      for (const index v : mesh_.corners(facet_of(t, k))) copy.on_hull[v] = 1;
    }
  }
  return copy;
}

double subdomain::load() const {
  if (stage_ == stage::empty || stage_ == stage::split || stage_ == stage::done) return 0;
  return std::max(expected_ - static_cast<double>(mesh_.count()), static_cast<double>(points_a_slice));
}

}  // namespace mesh3d
