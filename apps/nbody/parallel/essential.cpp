// SPDX-License-Identifier: Apache-2.0
// A walk for a box in place of its cells.
#include "parallel/essential.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nbody {
namespace {

class essential_walk {
 public:
  essential_walk(const top_tree& top, std::size_t bytes, const looked_branches& branches, const vector3& low,
                 const vector3& high, std::span<part_mask> masks)
      : top_(top), bytes_(bytes), branches_(branches), low_(low), high_(high), masks_(masks) {}

  /// `branch` has the group, of which the lanes belong to the parts in `part`; 0: each lane has its own. A part that is
  /// known to be needed is not looked at again.
  void look(const group_head* g, bool is_top, std::uint32_t branch, std::uint32_t part) {
    for (int lane = 0; lane < group_width; ++lane) {
      if ((g->used >> lane & 1) == 0) continue;
      const std::uint32_t own_part = part != 0 ? part : 1 + static_cast<std::uint32_t>(lane);
      if (!is_top && (masks_[branch] >> own_part & 1) != 0) continue;
      if (is_top && (g->branches >> lane & 1) == 0 && !has_any(top_.below[g->link[lane]])) continue;
      if (!reaches_box(*g, lane)) continue;
      const bool is_leaf = (g->leaves >> lane & 1) != 0;
      if ((g->branches >> lane & 1) != 0) {
        look_at_branch(g->link[lane], is_leaf);
      } else if (is_leaf) {
        masks_[branch] |= 1u << own_part;
      } else {
        look(child(g, g->link[lane]), is_top, branch, is_top ? 0 : own_part);
      }
    }
  }

 private:
  [[nodiscard]] bool has_any(const branch_range& below) const noexcept {
    return below.first < branches_.range.end && branches_.range.first < below.end;
  }
  void look_at_branch(std::uint32_t branch, bool is_leaf) {
    if ((branches_.roots[branch].owner == branches_.rank) != branches_.owned) return;
    if (is_leaf) {
      masks_[branch] |= 2;
      return;
    }
    masks_[branch] |= 1u << groups_part;
    if (masks_[branch] == (1u << parts_max) - 1) return;
    const group_head* groups = branches_.views[branch].groups;
    if (groups != nullptr) look(groups, false, branch, 0);
  }
  [[nodiscard]] const group_head* child(const group_head* g, std::uint32_t link) const {
    const auto* first = reinterpret_cast<const std::byte*>(g) - g->index * bytes_;
    return reinterpret_cast<const group_head*>(first + link * bytes_);
  }
  /// With a margin for the walk's rounding in single precision.
  [[nodiscard]] bool reaches_box(const group_head& g, int lane) const {
    const vector3 centre{g.x[lane], g.y[lane], g.z[lane]};
    double squared = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double away = std::max({low_[axis] - centre[axis], centre[axis] - high_[axis], 0.0});
      squared += away * away;
    }
    const double reach = 1.0001 * static_cast<double>(g.reach[lane]);
    return squared <= reach * reach;
  }

  const top_tree& top_;
  std::size_t bytes_;
  const looked_branches& branches_;
  const vector3 &low_, &high_;
  std::span<part_mask> masks_;
};

}  // namespace

body_range bodies_of(const branch_root& root, const group_head* groups, std::uint32_t part) {
  if (root.group_count == 0) return {0, root.moments.count};
  body_range range;
  for (std::uint32_t lane = 0; lane + 1 < part; ++lane) range.first += groups->count[lane];
  range.count = groups->count[part - 1];
  return range;
}

void add_essential(const top_tree& top, int order, const looked_branches& branches, const vector3& low,
                   const vector3& high, std::span<part_mask> masks) {
  essential_walk(top, group_bytes(order), branches, low, high, masks).look(top.root(), true, 0, 0);
}

}  // namespace nbody
