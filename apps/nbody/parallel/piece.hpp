// SPDX-License-Identifier: Apache-2.0
// A piece of the domain: a run of branches along the curve, with their bodies, as a mobile object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nacre/nacre.hpp>

#include "models/model.hpp"
#include "numerics/body.hpp"
#include "output/projection.hpp"
#include "parallel/plans.hpp"
#include "parallel/store.hpp"

namespace nbody {

class piece {
 public:
  using array = nacre::array_ptr<piece>;

  piece() = default;

  /// Makes the piece's share of the bodies of a model.
  void fill(nacre::context& ctx, model_settings model, std::uint32_t pieces);
  /// Takes bodies that rank 0 has read.
  void adopt(std::vector<body> bodies);
  /// Subtracts the motion and the place of the centre of mass.
  void shift(vector3 place, vector3 velocity);
  [[nodiscard]] std::vector<branch_sums> total() const;

  /// The first half of a step's kick, the drift, and what `sort` does.
  drift_report drift(nacre::context& ctx, substep now, sort_plan plan, store::group stores);
  [[nodiscard]] body_box box() const;
  /// Sorts the bodies along the curve, for an evaluation in which the rank's tree of the last one is not needed.
  /// Returns the number of bodies of each cell.
  std::vector<std::uint64_t> sort(nacre::context& ctx, sort_plan plan, store::group stores);
  /// The number of bodies of each cell. The cells are in the order of the curve.
  [[nodiscard]] std::vector<std::uint64_t> counts(std::vector<curve_cell> cells) const;

  /// Waits for the plan, sends bodies to the pieces that have their branches now, waits for its own, and builds its
  /// branches into the rank's store.
  nacre::task<std::vector<branch_root>> build(nacre::context& ctx, epoch_number epoch, array pieces,
                                              store::group stores);
  nacre::awaited<> take(epoch_number epoch, std::vector<body> bodies);
  /// Computes the forces, when all that they need is on this rank, and ends the kicks of active bodies.
  nacre::task<walk_report> walk(nacre::context& ctx, walk_plan plan, store::group stores);
  nacre::awaited<> arrived(epoch_number epoch);

  /// Of the bodies with these numbers, those that the piece has.
  [[nodiscard]] std::vector<force_sample> samples(std::vector<std::uint32_t> numbers) const;
  /// The forces of the piece's bodies at these places, by direct sums.
  [[nodiscard]] std::vector<direct_force> direct(std::vector<force_sample> places, softening soft) const;
  /// The forces of all bodies on the piece's own, by direct sums, in place of walk.
  walk_report walk_directly(walk_plan plan, std::vector<body> all);
  [[nodiscard]] std::vector<body> bodies() const { return bodies_; }
  [[nodiscard]] std::uint64_t digest() const;
  /// Mass by radius and by pixel, as whole numbers, whose sums do not depend on their order.
  [[nodiscard]] std::vector<std::uint64_t> radial_masses(vector3 centre, double mass, radial_scale scale) const;
  [[nodiscard]] std::vector<std::uint64_t> pixel_masses(projection seen, double mass) const;

  [[nodiscard]] double load() const { return seconds_; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(bodies_, accelerations_, keys_, number_, first_branch_, end_branch_, counts_, seconds_);
  }

 private:
  void send_leavers(nacre::context& ctx, const cut_plan& plan, const array& pieces, std::size_t expected);
  void build_branches(nacre::context& ctx, const cut_plan& plan, store& store, std::vector<branch_root>& roots);
  void walk_branch(const walk_plan& plan, const store& store, std::uint32_t branch, std::size_t first,
                   walk_memory& memory, walk_report& report);

  std::vector<body> bodies_;
  std::vector<vector3> accelerations_;  // of the bodies whose step has ended, from their walk until they drift
  std::vector<curve_key> keys_;         // sorted, as the bodies; from the sort until the trees are built
  std::uint32_t number_ = 0, first_branch_ = 0, end_branch_ = 0;
  std::vector<std::uint64_t> counts_;  // bodies of each branch
  double seconds_ = 0;                 // of the last walk
};

}  // namespace nbody
