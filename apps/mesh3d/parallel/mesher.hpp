// SPDX-License-Identifier: Apache-2.0
// Meshes the domain with all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "options.hpp"
#include "parallel/subdomain.hpp"
#include "plan/plan.hpp"

namespace mesh3d {

/// A whole mesh: shared points of subdomains are one.
struct whole_mesh {
  std::vector<point> points{};
  std::vector<std::array<std::uint32_t, 4>> tetrahedra{};
  std::vector<std::uint32_t> subdomains{}, ranks{};  // of tetrahedra
  side_list inner{};                                 // of tetrahedra: 1 inside of the surface
  placement place{};                                 // of the cube, in which the points are
  bool has_surface = false;
};

struct result {
  subdomain_counts counts{};
  std::uint32_t subdomains = 0, ranks = 0, workers = 0;
  double plan_seconds = 0, mesh_seconds = 0, check_seconds = 0, write_seconds = 0;
  double busiest_rank_seconds = 0;  // of meshing, on one rank
  std::uint64_t moves = 0;
  bool checked = false;
  bool simulated = false;  // the times are virtual
  findings verdict{};
  std::shared_ptr<const surface_in_cube> surface{};
  std::vector<subdomain_cost> costs{};  // by subdomain, when asked for
};

/// Collective. Rank 0 has made the plan and returns the result; `whole` is filled there when it is not null.
result make_mesh(nacre::runtime& rt, const options& asked, plan&& plan, whole_mesh* whole);

/// Puts the copies of all subdomains together.
whole_mesh join(const std::vector<mesh_copy>& parts);

/// Says what only the whole can show: whether volumes add up to that of the cube.
void judge_whole(const std::vector<leaf_plan>& leaves, findings& findings);

}  // namespace mesh3d
