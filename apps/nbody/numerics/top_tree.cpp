// SPDX-License-Identifier: Apache-2.0
// Builds the top of the tree from the roots of the branches.
#include "top_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>

#include "moments.hpp"

namespace nbody {
namespace {

template <int Order>
class top_builder {
 public:
  top_builder(std::span<const branch_root> roots, const tree_rules& rules, top_tree& result)
      : roots_(roots), rules_(rules), result_(result) {}

  void build() {
    result_.places.resize(roots_.size());
    groups_.emplace_back();
    result_.below = {{0, static_cast<std::uint32_t>(roots_.size())}};
    add(0, 0, 0, roots_.size(), curve_cell{});
    result_.groups = group_array(groups_.size(), sizeof(group<Order>));
    std::uninitialized_copy(groups_.begin(), groups_.end(), reinterpret_cast<group<Order>*>(result_.groups.data()));
  }

 private:
  struct boxed_cell {
    cell_moments moments;
    vector3 low, high;
  };

  /// Writes the cell with the branches from `first` to `end` into a lane, and returns it.
  boxed_cell add(std::size_t group_index, int lane, std::size_t first, std::size_t end, const curve_cell& cell) {
    boxed_cell site;
    std::uint32_t link = static_cast<std::uint32_t>(first);
    const bool is_branch = end - first == 1 && roots_[first].cell == cell;
    if (is_branch) {
      const branch_root& root = roots_[first];
      site = {root.moments, root.low, root.high};
      result_.places[first] = {static_cast<std::uint32_t>(group_index), lane};
    } else {
      link = static_cast<std::uint32_t>(groups_.size());
      site = add_children(first, end, cell);
    }
    group<Order>& group = groups_[group_index];
    set_lane(group, lane, site.moments, rules_.wanted, rules_.spline_length / rules_.bounds.unit);
    group.link[lane] = link;
    const auto bit = static_cast<std::uint8_t>(1u << lane);
    if (is_branch) group.branches = static_cast<std::uint8_t>(group.branches | bit);
    if (is_branch && roots_[first].group_count == 0) group.leaves = static_cast<std::uint8_t>(group.leaves | bit);
    return site;
  }

  boxed_cell add_children(std::size_t first, std::size_t end, const curve_cell& cell) {
    const std::size_t index = groups_.size();
    groups_.emplace_back().index = static_cast<std::uint32_t>(index);
    result_.below.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end)});
    std::array<cell_moments, group_width> children;
    std::size_t count = 0;
    boxed_cell site;
    for (std::size_t source = first; source < end; ++count) {
      const std::uint32_t octant = curve_cell::octant_of(roots_[source].cell.first, cell.level);
      std::size_t target = source;
      while (target < end && curve_cell::octant_of(roots_[target].cell.first, cell.level) == octant) ++target;
      const boxed_cell child = add(index, static_cast<int>(count), source, target, cell.child(octant));
      children[count] = child.moments;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        site.low[axis] = count == 0 ? child.low[axis] : std::min(site.low[axis], child.low[axis]);
        site.high[axis] = count == 0 ? child.high[axis] : std::max(site.high[axis], child.high[axis]);
      }
      source = target;
    }
    site.moments = parent_of<Order>(children.data(), count);
    const vector3 centre{site.moments.x, site.moments.y, site.moments.z};
    vector3 far;  // the corner of the box that is farthest from the centre
    for (std::size_t axis = 0; axis < 3; ++axis) {
      far[axis] = std::max(centre[axis] - site.low[axis], site.high[axis] - centre[axis]);
    }
    site.moments.radius = std::min(site.moments.radius, length(far));
    return site;
  }

  std::span<const branch_root> roots_;
  const tree_rules& rules_;
  top_tree& result_;
  std::vector<group<Order>> groups_;
};

template <int Order>
top_tree top_of_order(std::span<const branch_root> roots, const tree_rules& rules) {
  top_tree result;
  top_builder<Order>(roots, rules, result).build();
  return result;
}

}  // namespace

const group_head* top_tree::group_at(std::uint32_t index, int order) const noexcept {
  return reinterpret_cast<const group_head*>(groups.data() + index * group_bytes(order));
}

top_tree build_top(std::span<const branch_root> roots, const tree_rules& rules) {
  constexpr decltype(&top_of_order<3>) functions[] = {top_of_order<3>, top_of_order<4>, top_of_order<5>,
                                                      top_of_order<6>};
  return functions[rules.wanted.order - order_min](roots, rules);
}

double unit_of(std::span<const counted_cell> branches, double size) {
  std::uint64_t bodies = 0, levels = 0;
  for (const counted_cell& each : branches) bodies += each.count, levels += each.count * each.cell.level;
  return std::ldexp(size, -static_cast<int>((levels + bodies / 2) / std::max<std::uint64_t>(bodies, 1)));
}

}  // namespace nbody
