// SPDX-License-Identifier: Apache-2.0
// A subdomain as a mobile object.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <nacre/nacre.hpp>

#include "kernel/check.hpp"
#include "kernel/refiner.hpp"
#include "plan/octree.hpp"

namespace mesh3d {

/// A mesh for files, in flat arrays.
struct mesh_copy {
  std::vector<point> points{};
  std::vector<std::uint8_t> on_hull{};  // of the subdomain: other subdomains may have the point, too
  std::vector<std::array<std::uint32_t, 4>> tetrahedra{};
  std::uint32_t rank = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(points, on_hull, tetrahedra, rank);
  }
};

/// The time that a rank has spent on refinement.
class rank_clock {
 public:
  void add(double seconds) noexcept { nanoseconds_ += static_cast<std::uint64_t>(seconds * 1e9); }
  [[nodiscard]] double seconds() const noexcept { return static_cast<double>(nanoseconds_.load()) * 1e-9; }

 private:
  std::atomic<std::uint64_t> nanoseconds_{0};
};

struct subdomain_counts {
  std::uint64_t tetrahedra = 0, vertices = 0, bytes = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(tetrahedra, vertices, bytes);
  }
  static subdomain_counts sum(const subdomain_counts& a, const subdomain_counts& b);
};

/// What a subdomain has cost.
struct subdomain_cost {
  double seconds = 0;
  std::uint64_t tetrahedra = 0, bytes = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(seconds, tetrahedra, bytes);
  }
};

/// Triangulates the points on its surface, then refines its interior in slices, each a message to itself. It needs no
/// word from its neighbours.
class subdomain {
 public:
  using array = nacre::array_ptr<subdomain>;

  void begin(nacre::context& ctx, const array& all, nacre::group_ptr<rank_clock> clocks, leaf_plan leaf,
             const quality_rule& rule, double expected);
  void go_on(nacre::context& ctx);

  /// Checks the mesh, and sends each neighbour the triangles of the faces between them.
  void check(nacre::context& ctx);
  void compare(std::uint32_t neighbour, const std::vector<std::vector<shared_triangle>>& theirs);
  /// After all messages of `check` have arrived.
  [[nodiscard]] findings found() const;

  [[nodiscard]] subdomain_counts counts() const;
  [[nodiscard]] subdomain_cost cost() const;
  [[nodiscard]] mesh_copy copy(nacre::context& ctx) const;
  /// For balancers: the tetrahedra that are still to come.
  [[nodiscard]] double load() const;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(all_, clocks_, rule_, leaf_, expected_, seconds_, stage_, state_, mesh_, compared_, hull_, found_);
  }

 private:
  enum class stage : std::uint8_t { empty, planned, meshed, refined };
  [[nodiscard]] std::vector<std::uint32_t> neighbours() const;
  /// The triangles of the faces that are shared with a neighbour.
  [[nodiscard]] std::vector<std::vector<shared_triangle>> shared_with(std::uint32_t neighbour);

  array all_{};
  nacre::group_ptr<rank_clock> clocks_{};
  quality_rule rule_{};
  leaf_plan leaf_{};
  double expected_ = 0, seconds_ = 0;
  stage stage_ = stage::empty;
  refine_state state_{};
  triangulation mesh_{};
  std::uint32_t compared_ = 0;                        // neighbours whose triangles have been compared
  std::vector<std::vector<shared_triangle>> hull_{};  // by face, for the check
  findings found_{};
};

}  // namespace mesh3d
