// SPDX-License-Identifier: Apache-2.0
// Distributes subdomains, waits until they are done, checks and gathers them.
#include "parallel/mesher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace mesh3d {
namespace {

using subdomains = nacre::array_ptr<subdomain>;

struct sum_of_counts {
  subdomain_counts operator()(const subdomain_counts& a, const subdomain_counts& b) const {
    return subdomain_counts::sum(a, b);
  }
};

struct sum_of_findings {
  findings operator()(findings a, const findings& b) const {
    a.merge(b);
    return a;
  }
};

struct joined_triangles {
  using triangles = std::vector<std::array<point, 3>>;
  triangles operator()(triangles a, const triangles& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

/// Gives each rank the boundary of the mesh, from which subdomains measure the surface. Returns it.
std::shared_ptr<const surface_in_cube> measure_surface(nacre::runtime& rt, const subdomains& all,
                                                       const subdomain_groups& groups) {
  const bool first = rt.rank().value() == 0;
  placed_surface boundary;
  if (first) boundary.mesh = share_points(rt.reduce<&subdomain::boundary>(all, joined_triangles{}).get());
  boundary.mesh = rt.broadcast(boundary.mesh, nacre::rank_id{0});
  boundary.lengths.resize(boundary.mesh.triangles.size());  // which nobody asks for
  auto known = std::make_shared<const surface_in_cube>(std::move(boundary));
  rt.local(groups.surfaces).boundary = known;
  rt.barrier();
  if (first) rt.send<&subdomain::measure_surface>(all);
  rt.wait_quiescence();
  rt.local(groups.surfaces).boundary = nullptr;
  return known;
}

void check_all(nacre::runtime& rt, const subdomains& all, const subdomain_groups& groups, const plan& plan,
               result& done) {
  const double started = rt.now();
  if (rt.rank().value() == 0) rt.send<&subdomain::check>(all);
  rt.wait_quiescence();
  std::shared_ptr<const surface_in_cube> boundary;
  if (rt.local(groups.surfaces).known != nullptr) boundary = measure_surface(rt, all, groups);
  if (rt.rank().value() == 0) {
    done.verdict = rt.reduce<&subdomain::found>(all, sum_of_findings{}).get();
    judge_whole(plan.leaves, done.verdict);
    if (boundary != nullptr) judge_surface(plan.surface->of(), boundary->of().mesh, done.verdict);
    done.checked = true;
  }
  done.check_seconds = rt.now() - started;
}

whole_mesh gather(nacre::runtime& rt, const subdomains& all, std::uint32_t count, sides keep) {
  std::vector<mesh_copy> parts;
  for (int k = 0; k < static_cast<int>(count); ++k) parts.push_back(rt.call<&subdomain::copy>(all[{k}], keep).get());
  return join(parts);
}

/// Gives each rank a copy of the surface.
subdomain_groups share_surface(nacre::runtime& rt, const std::shared_ptr<const surface_in_cube>& result) {
  subdomain_groups groups{rt.create_group<meshing::rank_clock>(), rt.create_group<rank_surface>()};
  const bool first = rt.rank().value() == 0;
  if (rt.broadcast(result != nullptr, nacre::rank_id{0})) {
    placed_surface surface = rt.broadcast(first ? result->of() : placed_surface{}, nacre::rank_id{0});
    rt.local(groups.surfaces).known = first ? result : std::make_shared<const surface_in_cube>(std::move(surface));
  }
  return groups;
}

}  // namespace

void judge_whole(const std::vector<leaf_plan>& leaves, findings& findings) {
  std::uint64_t cubes = 0;
  for (const leaf_plan& leaf : leaves) cubes += std::uint64_t{leaf.box.size} * leaf.box.size * leaf.box.size;
  if (cubes != std::uint64_t{cube_size} * cube_size * cube_size) findings.fault("the leaves do not fill the cube");
  if (findings.facets_shared % 2 != 0) findings.fault("facets between subdomains do not come in pairs");
  // Each tetrahedron's volume has a relative error of some roundings of its longest edges' products.
  if (!(std::abs(findings.volume - 1) <= 1e-9))
    findings.fault(fmt::format("the volumes add up to {:.17g}", findings.volume));
}

result make_mesh(nacre::runtime& rt, const options& asked, plan&& plan, whole_mesh* whole) {
  result done;
  done.subdomains = rt.broadcast(static_cast<std::uint32_t>(plan.leaves.size()), nacre::rank_id{0});
  done.ranks = rt.size();
  done.workers = rt.workers();
  const subdomain_groups groups = share_surface(rt, plan.surface);
  const auto all = rt.create_array<subdomain>(nacre::extents{static_cast<int>(done.subdomains)});
  const std::uint64_t moved_before = rt.counters().migrations_in;
  rt.barrier();
  const double started = rt.now();
  if (rt.rank().value() == 0) {
    for (std::size_t k = 0; k < plan.leaves.size(); ++k) {
      rt.send<&subdomain::begin>(all[{static_cast<int>(k)}], all, groups, plan.leaves[k], plan.rule, plan.expected[k]);
    }
  }
  rt.wait_quiescence();
  done.mesh_seconds = rt.now() - started;
  done.moves = rt.all_reduce(rt.counters().migrations_in - moved_before, std::plus<>{});
  done.busiest_rank_seconds =
      rt.all_reduce(rt.local(groups.clocks).seconds(), [](double a, double b) { return std::max(a, b); });
  if (asked.check) check_all(rt, all, groups, plan, done);
  if (rt.rank().value() != 0) return done;
  done.surface = plan.surface;
  done.counts = rt.reduce<&subdomain::counts>(all, sum_of_counts{}).get();
  if (!asked.costs.empty()) {
    for (int k = 0; k < static_cast<int>(done.subdomains); ++k) {
      done.costs.push_back(rt.call<&subdomain::cost>(all[{k}]).get());
    }
  }
  if (whole != nullptr) {
    *whole = gather(rt, all, done.subdomains, asked.keep);
    whole->has_surface = plan.surface != nullptr;
    if (whole->has_surface) whole->place = plan.surface->of().place;
  }
  return done;
}

whole_mesh join(const std::vector<mesh_copy>& parts) {
  constexpr std::uint32_t unused = ~std::uint32_t{0};
  whole_mesh whole;
  std::map<point, std::uint32_t> known;  // on hulls, where subdomains have the same points bit for bit
  for (std::uint32_t number = 0; number < parts.size(); ++number) {
    const mesh_copy& part = parts[number];
    std::vector<std::uint32_t> new_point(part.points.size(), unused);
    const auto number_of = [&](std::uint32_t v) {
      if (new_point[v] != unused) return new_point[v];
      const auto fresh = static_cast<std::uint32_t>(whole.points.size());
      new_point[v] = part.on_hull[v] == 0 ? fresh : known.try_emplace(part.points[v], fresh).first->second;
      if (new_point[v] == fresh) whole.points.push_back(part.points[v]);
      return new_point[v];
    };
    for (const auto& corner : part.tetrahedra) {
      whole.tetrahedra.push_back(
          {number_of(corner[0]), number_of(corner[1]), number_of(corner[2]), number_of(corner[3])});
      whole.subdomains.push_back(number);
      whole.ranks.push_back(part.rank);
    }
    whole.inner.insert(whole.inner.end(), part.inner.begin(), part.inner.end());
  }
  return whole;
}

}  // namespace mesh3d
