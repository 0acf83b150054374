// SPDX-License-Identifier: Apache-2.0
// Builds a branch from its bodies, from the leaves up.
#include "branch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <utility>

#include "moments.hpp"

namespace nbody {
namespace {

template <int Order>
class branch_builder {
  static constexpr int degree = group<Order>::source_degree;

 public:
  branch_builder(std::span<const body> bodies, std::span<const curve_key> keys, std::uint32_t number,
                 const tree_rules& rules, branch_tree& result)
      : bodies_(bodies), keys_(keys), number_(number), rules_(rules), result_(result), places_(bodies.size()) {
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      places_[k] = 1 / rules.bounds.unit * (bodies[k].place - rules.bounds.origin);
    }
    for (std::vector<float>* each : {&result.x, &result.y, &result.z, &result.mass}) each->resize(bodies.size());
  }

  void build(const curve_cell& cell) {
    branch_root& root = result_.root;
    root.cell = cell;
    root.low = root.high = places_.front();
    for (const vector3& place : places_) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        root.low[axis] = std::min(root.low[axis], place[axis]);
        root.high[axis] = std::max(root.high[axis], place[axis]);
      }
    }
    root.moments = build_cell(0, places_.size(), cell.level);
    root.group_count = static_cast<std::uint32_t>(groups_.size());
    if (groups_.empty()) return;
    result_.groups = group_array(groups_.size(), sizeof(group<Order>));
    std::uninitialized_copy(groups_.begin(), groups_.end(), reinterpret_cast<group<Order>*>(result_.groups.data()));
  }

 private:
  [[nodiscard]] bool is_leaf(std::size_t count, std::uint32_t level) const {
    return count <= rules_.wanted.leaf_bodies || level == levels_max;
  }

  cell_moments build_cell(std::size_t first, std::size_t end, std::uint32_t level) {
    if (is_leaf(end - first, level)) return build_leaf(first, end);
    const std::size_t index = groups_.size();
    group<Order>& result = groups_.emplace_back();
    result.index = static_cast<std::uint32_t>(index), result.branch = number_;
    std::array<cell_moments, group_width> children;
    std::size_t count = 0;
    for (std::size_t source = first; source < end; ++count) {
      const std::uint32_t octant = curve_cell::octant_of(keys_[source], level);
      std::size_t target = source;
      while (target < end && curve_cell::octant_of(keys_[target], level) == octant) ++target;
      const auto link = static_cast<std::uint32_t>(is_leaf(target - source, level + 1) ? source : groups_.size());
      children[count] = build_cell(source, target, level + 1);
      group<Order>& site = groups_[index];  // which may have moved
      const int lane = static_cast<int>(count);
      set_lane(site, lane, children[count], rules_.wanted, rules_.spline_length / rules_.bounds.unit);
      site.link[lane] = link;
      if (is_leaf(target - source, level + 1)) site.leaves = static_cast<std::uint8_t>(site.leaves | 1u << lane);
      source = target;
    }
    cell_moments cell = parent_of<Order>(children.data(), count);
    cell.radius = std::min(cell.radius, radius_of(cell, first, end));
    return cell;
  }

  cell_moments build_leaf(std::size_t first, std::size_t end) {
    cell_moments cell;
    cell.count = static_cast<std::uint32_t>(end - first);
    result_.root.largest_leaf = std::max(result_.root.largest_leaf, cell.count);
    for (std::size_t k = first; k < end; ++k) {
      const double mass = bodies_[k].mass / rules_.mass_unit;
      cell.mass += mass;
      cell.x += mass * places_[k][0], cell.y += mass * places_[k][1], cell.z += mass * places_[k][2];
    }
    cell.x /= cell.mass, cell.y /= cell.mass, cell.z /= cell.mass;
    cell.terms.assign(terms_up_to(degree), 0);
    for (std::size_t k = first; k < end; ++k) {
      const vector3 v = places_[k] - vector3{cell.x, cell.y, cell.z};
      const double mass = bodies_[k].mass / rules_.mass_unit;
      add_mass<degree>(cell, v, mass);
      result_.x[k] = static_cast<float>(v[0]), result_.y[k] = static_cast<float>(v[1]);
      result_.z[k] = static_cast<float>(v[2]), result_.mass[k] = static_cast<float>(mass);
    }
    cell.radius = radius_of(cell, first, end);
    return cell;
  }

  [[nodiscard]] double radius_of(const cell_moments& cell, std::size_t first, std::size_t end) const {
    double squared = 0;
    const vector3 centre{cell.x, cell.y, cell.z};
    for (std::size_t k = first; k < end; ++k) {
      const vector3 v = places_[k] - centre;
      squared = std::max(squared, dot(v, v));
    }
    return std::sqrt(squared);
  }

  std::span<const body> bodies_;
  std::span<const curve_key> keys_;
  std::uint32_t number_;
  const tree_rules& rules_;
  branch_tree& result_;
  std::vector<vector3> places_;  // in the units of the tree
  std::vector<group<Order>> groups_;
};

template <int Order>
branch_tree build_of_order(std::span<const body> bodies, std::span<const curve_key> keys, const curve_cell& cell,
                           std::uint32_t number, const tree_rules& rules) {
  branch_tree result;
  branch_builder<Order>(bodies, keys, number, rules, result).build(cell);
  return result;
}

}  // namespace

group_array::group_array(std::size_t count, std::size_t bytes_each)
    : bytes_(static_cast<std::byte*>(::operator new (count* bytes_each, std::align_val_t{alignof(group_head)}))),
      size_(count * bytes_each) {}

void group_array::release::operator()(std::byte* bytes) const noexcept {
  ::operator delete (bytes, std::align_val_t{alignof(group_head)});
}

const group_head* group_array::first() const noexcept { return reinterpret_cast<const group_head*>(bytes_.get()); }

branch_view branch_tree::view() const noexcept { return {groups.first(), {x.data(), y.data(), z.data(), mass.data()}}; }

branch_tree build_branch(std::span<const body> bodies, std::span<const curve_key> keys, const curve_cell& cell,
                         std::uint32_t number, const tree_rules& rules) {
  constexpr decltype(&build_of_order<3>) functions[] = {build_of_order<3>, build_of_order<4>, build_of_order<5>,
                                                        build_of_order<6>};
  return functions[rules.wanted.order - order_min](bodies, keys, cell, number, rules);
}

}  // namespace nbody
