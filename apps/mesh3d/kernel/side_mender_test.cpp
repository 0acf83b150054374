// SPDX-License-Identifier: Apache-2.0
// Sides that are spoilt, so that the boundary is no surface, and what becomes of them.
#include "kernel/side_mender.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "kernel/delaunay.hpp"
#include "plan/hull_points.hpp"
#include "plan/plan.hpp"

namespace mesh3d {
namespace {

/// A subdomain whose sides are told.
struct told {
  plan mesh_plan{};
  triangulation mesh{};
  side_list inner{};
  std::vector<index> turned{};

  told(const options& asked, std::size_t index) : mesh_plan(make_plan(asked)) {
    const leaf_plan& leaf = mesh_plan.leaves.at(index);
    const point low = to_point(leaf.box.low);
    const double side = to_length(leaf.box.size);
    mesh = triangulate(low, low + point{side, side, side}, hull_points(leaf, mesh_plan.rule.size));
    refine();
  }
  void refine() {
    refine_state state;
    refiner work(mesh, mesh_plan.rule);
    while (!work.refine(state, 200)) {
    }
    inner.clear();
    for (index t = 0; t < mesh.tetrahedra.size(); ++t) inner.push_back(mesh.in_use(t) && work.is_inside(t) ? 1 : 0);
  }
  /// Edges of the boundary that do not have two triangles, but for those of the hull.
  [[nodiscard]] std::size_t bad_edges() const {
    std::map<std::array<index, 2>, int> counts;
    std::map<std::array<index, 2>, bool> is_hull;
    for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
      for (unsigned k = 0; k < 4 && mesh.in_use(t); ++k) {
        const facet twin = mesh.twin(facet_of(t, k));
        const auto corners = mesh.corners(facet_of(t, k));
        for (unsigned l = 0; l < 3; ++l) {
          const index a = corners[l], b = corners[(l + 1) % 3];
          const std::array<index, 2> edge{std::min(a, b), std::max(a, b)};
          if (twin == none) is_hull[edge] = true;
          if (twin != none && inner[t] > inner[tetrahedron_of(twin)]) ++counts[edge];
        }
      }
    }
    return static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [&](const auto& each) {
      return each.second != 2 && !is_hull.contains(each.first);
    }));
  }
  /// The sum of all excesses, as the hull has a part in them.
  [[nodiscard]] unsigned excess() const {
    side_links links(mesh, inner, *mesh_plan.rule.size.surface);
    unsigned sum = 0;
    std::vector<bool> is_seen(mesh.vertices.size());
    for (index t = 0; t < mesh.tetrahedra.size(); ++t) {
      for (unsigned k = 0; k < 4 && mesh.in_use(t); ++k) {
        const auto& corner = mesh.tetrahedra[t].corner;
        for (unsigned l = 0; l < k; ++l) sum += links.excess(links.fan({corner[k], corner[l]}, t));
        if (!is_seen[corner[k]]) sum += links.excess(corner[k], t);
        is_seen[corner[k]] = true;
      }
    }
    return sum;
  }
  /// Turns each tetrahedron of a sequence of numbers that is at the boundary.
  void spoil(std::uint32_t step) {
    const side_list list = inner;
    for (index t = 0; t < mesh.tetrahedra.size(); t += step) {
      const auto& twin = mesh.tetrahedra[t].twin;
      if (std::any_of(twin.begin(), twin.end(),
                      [&](facet f) { return mesh.in_use(t) && f != none && list[tetrahedron_of(f)] != list[t]; })) {
        inner[t] ^= 1;
      }
    }
  }
  side_mender::progress mend(mend_state state) {
    auto progress = side_mender::progress::more;
    while (progress == side_mender::progress::more) {
      progress = side_mender(mesh, mesh_plan.rule, inner, turned).mend(state, 1000);
    }
    return progress;
  }
};

TEST(SideMender, leaves_sides_alone_whose_boundary_is_a_surface) {
  told told({.input = "sphere", .size = 0.08}, 0);
  ASSERT_EQ(told.excess(), 0u);
  const side_list list = told.inner;
  EXPECT_EQ(told.mend({}), side_mender::progress::done);
  EXPECT_EQ(told.inner, list);
  EXPECT_TRUE(told.turned.empty());
}

TEST(SideMender, turns_tetrahedra_until_the_boundary_is_a_surface) {
  for (const std::uint32_t step : {7u, 23u}) {
    told told({.input = "sphere", .size = 0.08, .subdomains = 8}, 3);
    EXPECT_EQ(told.bad_edges(), 0u);
    told.spoil(step);
    EXPECT_GT(told.bad_edges(), 0u);
    const unsigned spoilt = told.excess();
    EXPECT_GT(spoilt, 0u);
    const side_list list = told.inner;
    EXPECT_EQ(told.mend({.inserts = false}), side_mender::progress::done);
    EXPECT_EQ(told.bad_edges(), 0u);
    EXPECT_EQ(told.excess(), 0u);
    for (index t = 0; t < told.inner.size(); ++t) {
      EXPECT_EQ(told.inner[t] != list[t], std::binary_search(told.turned.begin(), told.turned.end(), t));
    }
  }
}

TEST(SideMender, inserts_points_of_the_surface_first) {
  told told({.input = "sphere", .size = 0.08}, 0);
  const std::size_t vertices = told.mesh.vertices.size();
  told.spoil(7);
  ASSERT_GT(told.excess(), 0u);
  EXPECT_EQ(told.mend({}), side_mender::progress::inserted);
  EXPECT_GT(told.mesh.vertices.size(), vertices);
  for (std::size_t v = vertices; v < told.mesh.vertices.size(); ++v) {
    EXPECT_TRUE(told.mesh_plan.rule.size.surface->nearest(told.mesh.vertices[v], quality_rule::on_surface));
  }
  told.refine();
  EXPECT_EQ(told.mend({.rounds = 1}), side_mender::progress::done);
  EXPECT_EQ(told.excess(), 0u);
}

}  // namespace
}  // namespace mesh3d
