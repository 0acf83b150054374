// SPDX-License-Identifier: Apache-2.0
// Meshes a domain with all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "options.hpp"
#include "parallel/plan.hpp"
#include "parallel/subdomain.hpp"

namespace mesh2d {

/// A whole mesh: shared points of subdomains are one.
struct whole_mesh {
  std::vector<point> points{};
  std::vector<std::uint8_t> on_boundary{};
  std::vector<std::array<std::uint32_t, 3>> triangles{};
  std::vector<std::uint32_t> regions{}, subdomains{};  // of triangles
  std::vector<region_rule> region_rules{};
};

struct result {
  subdomain_counts counts{};
  std::uint32_t subdomains = 0, ranks = 0, workers = 0, rounds = 0;
  double area_max = 0;
  double plan_seconds = 0, mesh_seconds = 0, check_seconds = 0, write_seconds = 0;
  double busiest_rank_seconds = 0;  // of refinement, on one rank
  std::uint64_t moves = 0;
  bool checked = false;
  bool simulated = false;  // the times are virtual
  findings verdict{};
  std::vector<std::string> notes{};
  std::string problem{};  // on all ranks: if it is not empty there is no mesh
};

/// Collective. Rank 0 has read the input and returns the result; `whole` and `drawn` are filled there
/// when they are not null. `problem` is told on all ranks.
result make_mesh(nacre::runtime& rt, const options& asked, plan&& plan, whole_mesh* whole, picture* drawn = nullptr);

/// Puts the copies of all subdomains together.
whole_mesh join(const std::vector<mesh_copy>& parts);

}  // namespace mesh2d
