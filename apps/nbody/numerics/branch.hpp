// SPDX-License-Identifier: Apache-2.0
// Branches: subtrees of some hundred to some thousand bodies, of which pieces of the domain consist.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "accuracy.hpp"
#include "body.hpp"
#include "curve.hpp"
#include "group.hpp"
#include "indices.hpp"

namespace nbody {

/// Some numbers, in place: cells are copied too often to have each a block of the heap.
class term_list {
 public:
  void assign(std::size_t count, double value) {
    count_ = static_cast<std::uint32_t>(count);
    std::fill_n(values_.begin(), count, value);
  }
  [[nodiscard]] double& operator[](std::size_t place) noexcept { return values_[place]; }
  [[nodiscard]] double operator[](std::size_t place) const noexcept { return values_[place]; }

  template <class Archive>
  void save(Archive& ar) const {
    ar(std::span<const double>(values_.data(), count_));
  }
  template <class Archive>
  void load(Archive& ar) {
    std::span<const double> all;
    ar(all);
    assign(std::min(all.size(), values_.size()), 0);
    std::copy_n(all.begin(), count_, values_.begin());
  }

 private:
  std::array<double, terms_up_to(order_max - 1)> values_;  // the first count_
  std::uint32_t count_ = 0;
};

/// A cell with its multipoles about its centre of mass, in the units of the tree, in double precision.
struct cell_moments {
  double x = 0, y = 0, z = 0, mass = 0, radius = 0;
  std::uint32_t count = 0;
  term_list terms{};  ///< sum m v^n / n!, by position_of(n), up to degree order - 1
  template <class Archive>
  void serialize(Archive& ar) {
    ar(x, y, z, mass, radius, count, terms);
  }
};

/// The root of a branch, which all ranks know.
struct branch_root {
  curve_cell cell{};
  cell_moments moments{};
  vector3 low{}, high{};    ///< box of the bodies, in the units of the tree
  std::uint32_t owner = 0;  ///< rank that has the branch in its store
  std::uint32_t largest_leaf = 0;
  std::uint32_t group_count = 0;  ///< 0: the root is a leaf
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cell, moments, low, high, owner, largest_leaf, group_count);
  }
};

/// Memory for groups, aligned as they are.
class group_array {
 public:
  group_array() = default;
  group_array(std::size_t count, std::size_t bytes_each);
  [[nodiscard]] std::byte* data() noexcept { return bytes_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return bytes_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_; }
  [[nodiscard]] const group_head* first() const noexcept;

 private:
  struct release {
    void operator()(std::byte* bytes) const noexcept;
  };
  std::unique_ptr<std::byte[], release> bytes_;
  std::size_t size_ = 0;
};

/// A branch with all its cells and bodies. Nothing of it changes once it is built.
struct branch_tree {
  branch_root root{};
  group_array groups{};
  std::vector<float> x{}, y{}, z{}, mass{};

  [[nodiscard]] branch_view view() const noexcept;
};

/// What is alike for all branches of a step.
struct tree_rules {
  frame bounds{};
  double mass_unit = 1;      ///< mass of all bodies
  double spline_length = 0;  ///< in the units of the bodies; 0 with Plummer's softening
  accuracy wanted{};
};

/// Builds the tree of the bodies in `cell`, which are sorted along the curve. `number` is that of the branch.
[[nodiscard]] branch_tree build_branch(std::span<const body> bodies, std::span<const curve_key> keys,
                                       const curve_cell& cell, std::uint32_t number, const tree_rules& rules);

}  // namespace nbody
