// SPDX-License-Identifier: Apache-2.0
// Distributes subdomains, waits until they are done, checks and gathers them.
#include "parallel/mesher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

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

void check_all(nacre::runtime& rt, const subdomains& all, const std::vector<leaf_plan>& leaves, result& done) {
  const double started = rt.now();
  if (rt.rank().value() == 0) rt.send<&subdomain::check>(all);
  rt.wait_quiescence();
  if (rt.rank().value() == 0) {
    done.found = rt.reduce<&subdomain::found>(all, sum_of_findings{}).get();
    judge_whole(leaves, done.found);
    done.checked = true;
  }
  done.check_seconds = rt.now() - started;
}

whole_mesh gather(nacre::runtime& rt, const subdomains& all, std::uint32_t count) {
  std::vector<mesh_copy> parts;
  for (int k = 0; k < static_cast<int>(count); ++k) parts.push_back(rt.call<&subdomain::copy>(all[{k}]).get());
  return join(parts);
}

}  // namespace

void judge_whole(const std::vector<leaf_plan>& leaves, findings& found) {
  std::uint64_t cubes = 0;
  for (const leaf_plan& leaf : leaves) cubes += std::uint64_t{leaf.box.size} * leaf.box.size * leaf.box.size;
  if (cubes != std::uint64_t{cube_size} * cube_size * cube_size) found.fault("the leaves do not fill the cube");
  if (found.facets_shared % 2 != 0) found.fault("facets between subdomains do not come in pairs");
  // Each tetrahedron's volume has a relative error of some roundings of its longest edges' products.
  if (!(std::abs(found.volume - 1) <= 1e-9)) found.fault(fmt::format("the volumes add up to {:.17g}", found.volume));
}

result make_mesh(nacre::runtime& rt, const options& asked, plan&& made, whole_mesh* whole) {
  result done;
  done.subdomains = rt.broadcast(static_cast<std::uint32_t>(made.leaves.size()), nacre::rank_id{0});
  done.ranks = rt.size();
  done.workers = rt.workers();
  const auto clocks = rt.create_group<rank_clock>();
  const auto all = rt.create_array<subdomain>(nacre::extents{static_cast<int>(done.subdomains)});
  const std::uint64_t moved_before = rt.counters().migrations_in;
  rt.barrier();
  const double started = rt.now();
  if (rt.rank().value() == 0) {
    for (std::size_t k = 0; k < made.leaves.size(); ++k) {
      rt.send<&subdomain::begin>(all[{static_cast<int>(k)}], all, clocks, made.leaves[k], made.rule, made.expected[k]);
    }
  }
  rt.wait_quiescence();
  done.mesh_seconds = rt.now() - started;
  done.moves = rt.all_reduce(rt.counters().migrations_in - moved_before, std::plus<>{});
  done.busiest_rank_seconds =
      rt.all_reduce(rt.local(clocks).seconds(), [](double a, double b) { return std::max(a, b); });
  if (asked.check) check_all(rt, all, made.leaves, done);
  if (rt.rank().value() != 0) return done;
  done.counts = rt.reduce<&subdomain::counts>(all, sum_of_counts{}).get();
  if (!asked.costs.empty()) {
    for (int k = 0; k < static_cast<int>(done.subdomains); ++k) {
      done.costs.push_back(rt.call<&subdomain::cost>(all[{k}]).get());
    }
  }
  if (whole != nullptr) *whole = gather(rt, all, done.subdomains);
  return done;
}

whole_mesh join(const std::vector<mesh_copy>& parts) {
  whole_mesh whole;
  std::map<point, std::uint32_t> known;  // on hulls, where subdomains have the same points bit for bit
  for (std::uint32_t number = 0; number < parts.size(); ++number) {
    const mesh_copy& part = parts[number];
    std::vector<std::uint32_t> new_point(part.points.size());
    for (std::size_t v = 0; v < part.points.size(); ++v) {
      const auto fresh = static_cast<std::uint32_t>(whole.points.size());
      new_point[v] = part.on_hull[v] == 0 ? fresh : known.try_emplace(part.points[v], fresh).first->second;
      if (new_point[v] == fresh) whole.points.push_back(part.points[v]);
    }
    for (const auto& corner : part.tetrahedra) {
      whole.tetrahedra.push_back(
          {new_point[corner[0]], new_point[corner[1]], new_point[corner[2]], new_point[corner[3]]});
      whole.subdomains.push_back(number);
      whole.ranks.push_back(part.rank);
    }
  }
  return whole;
}

}  // namespace mesh3d
