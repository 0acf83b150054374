// SPDX-License-Identifier: Apache-2.0
// The steps of the bodies, as main of rank 0 drives them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "numerics/direct.hpp"
#include "options.hpp"
#include "output/snapshot.hpp"
#include "parallel/state.hpp"

namespace nbody {

/// Used by main of rank 0. Each phase is a call of all pieces, whose end it waits for: box, keys, counts of cells,
/// trees, walks.
class evolution {
 public:
  evolution(nacre::runtime& rt, const options& asked, store::group stores, bool simulated, evolution_state& state)
      : rt_(rt), asked_(asked), stores_(stores), simulated_(simulated), state_(state) {}

  /// Collective, the only function that is: makes the array of pieces, for bodies that were read or, if there are none,
  /// for those of the model.
  void make_pieces(std::uint64_t bodies_read);
  /// Takes over the pieces of an image, which may have been taken by another number of ranks. Throws nacre::setup_error
  /// where the options are not those of the image.
  void go_on();
  /// Makes the bodies or takes those that were read, and computes the first forces.
  void begin(snapshot read);
  /// One step, with as many substeps as the bodies' rungs ask for.
  void step();

  [[nodiscard]] force_error check() const;
  [[nodiscard]] std::uint64_t digest() const;
  [[nodiscard]] std::vector<body> bodies() const;
  /// A line for bodies of the last evaluation that the tree cannot tell apart; empty if there are few of them.
  [[nodiscard]] std::string warning() const;
  /// A line for bodies of the last evaluation that want a shorter step than --rungs allows; empty if there are none.
  [[nodiscard]] std::string rung_warning() const;
  /// Mass by pixel.
  [[nodiscard]] std::vector<std::uint64_t> picture();

 private:
  void demand_same_pictures() const;
  void fill(const snapshot& read);
  void settle();
  void advance(const substep& now, bool measures);
  void compute_forces(drift_report drifted, walk_plan plan);
  [[nodiscard]] walk_report walk_tree(drift_report drifted, const walk_plan& plan);
  /// Sorts the bodies, unless they have been sorted and counted as they drifted.
  [[nodiscard]] cut_plan cut(drift_report drifted);
  void count_fetches();
  void measure(std::vector<branch_sums> sums);
  /// That hold the parts of the mass in lagrange_parts.
  [[nodiscard]] std::array<double, 5> radii_about(const vector3& centre) const;
  void add_times(const std::vector<piece_time>& times);
  [[nodiscard]] std::vector<double> seconds_by_work(const std::vector<piece_time>& times) const;
  /// The largest time of a rank in the last step, in units of the mean.
  [[nodiscard]] double imbalance() const;
  void balance();
  void move_pieces();
  [[nodiscard]] std::vector<std::uint32_t> cut_pieces(const std::vector<counted_cell>& branches, const frame& frame);
  [[nodiscard]] std::vector<double> branch_weights(const std::vector<counted_cell>& branches) const;
  [[nodiscard]] substep substep_at(std::uint32_t first) const;

  nacre::runtime& rt_;
  const options& asked_;
  store::group stores_;
  bool simulated_;
  evolution_state& state_;
  body_box box_{};                  // in the last evaluation
  std::uint32_t largest_leaf_ = 0;  // likewise
  std::uint64_t hurried_ = 0;       // likewise, see walk_report
};

}  // namespace nbody
