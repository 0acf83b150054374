// SPDX-License-Identifier: Apache-2.0
// The walk for one order: from the root of a branch down, each target takes its list from its parent.
//
// Rules for a target cell A and a source cell B at distance d between their centres of mass:
//   d > radius_A / angle_A + reach_B           B acts on A's local expansion
//   else A is a leaf, and reach_B is less than the distance of B from A's box: B acts on each body of A
//   else d <= reach_B, and B is larger than A or A is a leaf: B is opened; a leaf B then acts body by body on a leaf A
//   else B goes into the lists of A's children
// So B is opened only by targets that lie within reach_B of it. All sums are in one order, which the tree decides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "expansion_lanes.hpp"
#include "local_lanes.hpp"
#include "pair_lanes.hpp"
#include "walk.hpp"

namespace nbody {
namespace {

template <int Order>
class walk_of_order {
  static constexpr int source_degree = Order - 1, moment_count = stored_moments(source_degree);
  static constexpr int fields = 4 + moment_count;
  /// Multipoles that wait for a kernel, in steps of lanes.
  static constexpr int room = static_cast<int>(walk_memory::cell_floats) / fields / 16 * 16 > 256
                                  ? 256
                                  : static_cast<int>(walk_memory::cell_floats) / fields / 16 * 16;

 public:
  walk_of_order(const walk_task& task, walk_memory& memory, walk_counts& counts)
      : task_(task), memory_(memory), counts_(counts) {}

  void run() {
    memory_.entries_size = 0;
    push(task_.tree, 1);
    const local_expansion<Order> nothing{};
    visit(task_.parent, task_.lane, 0, memory_.entries_size, nothing, nullptr);
  }

 private:
  struct target_cell {
    double x, y, z;
    float radius, box_x, box_y, box_z, half_x, half_y, half_z;  // the box of a leaf, relative to the centre
    bool is_leaf;
  };

  void push(const group_head* sources, std::uint32_t mask) {
    if (memory_.entries_size == memory_.entries_capacity) memory_.grow_entries();
    memory_.entries[memory_.entries_size++] = {sources, mask};
  }

  [[nodiscard]] const group_head* children(const group_head* head, int lane) const {
    if ((head->branches >> lane & 1) != 0) return task_.branches[head->link[lane]].groups;
    const auto* all = static_cast<const group<Order>*>(head) - head->index;
    return all + head->link[lane];
  }
  [[nodiscard]] body_lanes bodies(const group_head* head, int lane) const {
    const bool is_root = (head->branches >> lane & 1) != 0;
    const body_lanes& all = task_.branches[is_root ? head->link[lane] : head->branch].bodies;
    const std::uint32_t first = is_root ? 0 : head->link[lane];
    return {all.x + first, all.y + first, all.z + first, all.mass + first};
  }

  /// `first_body`: of the branch, of the cell in `lane`.
  void visit(const group_head* head, int lane, std::size_t first, std::size_t end, const local_expansion<Order>& above,
             const target_cell* parent, std::uint32_t first_body = 0) {
    const std::uint32_t count = head->count[lane];
    const std::uint32_t* active = task_.active_before;
    if (active != nullptr && active[first_body] == active[first_body + count]) return;
    const target_cell saved = target_;
    target_ = {head->x[lane],
               head->y[lane],
               head->z[lane],
               head->radius[lane],
               0,
               0,
               0,
               0,
               0,
               0,
               (head->leaves >> lane & 1) != 0};
    local_expansion<Order> local = above;
    if (parent != nullptr) {
      local.shift(static_cast<float>(target_.x - parent->x), static_cast<float>(target_.y - parent->y),
                  static_cast<float>(target_.z - parent->z));
    }
    local_ = {};
    if (target_.is_leaf) take_targets(bodies(head, lane), count, first_body);
    const std::size_t saved_size = memory_.entries_size;
    for (std::size_t k = first; k < end; ++k) {
      const walk_entry entry = memory_.entries[k];
      consider(entry.sources, entry.mask);
    }
    finish_cells();
    local.add(local_);
    if (target_.is_leaf) {
      finish_leaf(local);
    } else {
      const group_head* below = children(head, lane);
      const target_cell cell = target_;
      const std::size_t own_end = memory_.entries_size;
      std::uint32_t body = first_body;
      for (int k = 0; k < group_width; ++k) {
        if ((below->used >> k & 1) == 0) continue;
        visit(below, k, saved_size, own_end, local, &cell, body);
        body += below->count[k];
      }
    }
    memory_.entries_size = saved_size;
    target_ = saved;
  }

  void consider(const group_head* g, std::uint32_t mask) {
    counts_.tests += static_cast<std::uint64_t>(__builtin_popcount(mask));
    const lanes_of_group x = to_floats(target_.x - load<doubles_of_group>(g->x));
    const lanes_of_group y = to_floats(target_.y - load<doubles_of_group>(g->y));
    const lanes_of_group z = to_floats(target_.z - load<doubles_of_group>(g->z));
    const lanes_of_group squared = x * x + y * y + z * z;
    const auto reach = load<lanes_of_group>(g->reach), radius = load<lanes_of_group>(g->radius);
    const lanes_of_group limit = reach + target_.radius * task_.rules.target_factor;
    const std::uint32_t accepted = mask & lanes_below(limit * limit, squared);
    if (accepted != 0) append(memory_.cells, cell_count_, g, accepted, x, y, z);
    if (cell_count_ > room - group_width) finish_cells();
    std::uint32_t opened = mask & ~accepted;
    if (target_.is_leaf) {
      const std::uint32_t far = opened & lanes_below(reach * reach, box_distance(x, y, z));
      if (far != 0) append(memory_.cells_for_bodies, body_cell_count_, g, far, x, y, z);
      if (body_cell_count_ > room - group_width) finish_body_cells();
      opened &= ~far;
    } else {
      const std::uint32_t far = lanes_below(reach * reach, squared);
      const std::uint32_t larger = lanes_below(lanes_of_group{} + target_.radius, radius);
      const std::uint32_t passed = opened & (far | ~larger | g->leaves);
      if (passed != 0) push(g, passed);
      opened &= ~passed;
    }
    for (; opened != 0; opened &= opened - 1) {
      const int lane = __builtin_ctz(opened);
      if ((g->leaves >> lane & 1) != 0) {
        take_sources(g, lane, x[lane], y[lane], z[lane]);
      } else {
        const group_head* below = children(g, lane);
        consider(below, below->used);
      }
    }
  }

  /// Squared distances of centres from the box of the target's bodies.
  [[gnu::always_inline]] lanes_of_group box_distance(lanes_of_group x, lanes_of_group y, lanes_of_group z) const {
    const auto beyond = [](lanes_of_group along, float middle, float half) __attribute__((always_inline)) {
      const lanes_of_group remote = along + middle, away = (remote < 0 ? -remote : remote) - half;
      return away > 0 ? away : lanes_of_group{};
    };
    const lanes_of_group a = beyond(x, target_.box_x, target_.half_x), b = beyond(y, target_.box_y, target_.half_y);
    const lanes_of_group c = beyond(z, target_.box_z, target_.half_z);
    return a * a + b * b + c * c;
  }

  [[gnu::always_inline]] static void append(float* cells, int& count, const group_head* g, std::uint32_t mask,
                                            lanes_of_group x, lanes_of_group y, lanes_of_group z) {
    float* next = cells + count;
    store_chosen(next, x, mask);
    store_chosen(next + room, y, mask);
    store_chosen(next + 2 * room, z, mask);
    store_chosen(next + 3 * room, load<lanes_of_group>(g->mass), mask);
    const auto* full = static_cast<const group<Order>*>(g);
    for (int k = 0; k < moment_count; ++k) {
      store_chosen(next + (4 + k) * room, load<lanes_of_group>(full->moments[k]), mask);
    }
    count += __builtin_popcount(mask);
  }

  /// Fills the lanes behind the last source with sources that have no mass.
  static int pad(float* cells, int count) {
    const int end = (count + lane_count - 1) / lane_count * lane_count;
    for (int k = count; k < end; ++k) {
      for (int field = 0; field < fields; ++field) cells[field * room + k] = field < 3 ? 1.0f : 0.0f;
    }
    return end;
  }

  void finish_cells() {
    counts_.cell_cell += static_cast<std::uint64_t>(cell_count_);
    const int end = pad(memory_.cells, cell_count_);
    cell_count_ = 0;
    if (end == 0) return;
    lanes sums[terms_up_to(Order)] = {};
    const lanes softening = spread(plummer_squared());
    for (int first = 0; first < end; first += lane_count) {
      const float* local = memory_.cells + first;
      const lane_vector v{load<lanes>(local), load<lanes>(local + room), load<lanes>(local + 2 * room)};
      lanes table[terms_up_to(Order)];
      derivatives<Order>(v, v.x * v.x + v.y * v.y + v.z * v.z + softening, table);
      add_expansion<source_degree, Order, Order>(table, load<lanes>(local + 3 * room), local + 4 * room, room, sums);
    }
    for (int k = 0; k < terms_up_to(Order); ++k) local_.terms[k] += sum_of(sums[k]);
  }

  void finish_body_cells() {
    counts_.cell_body += static_cast<std::uint64_t>(body_cell_count_) * static_cast<std::uint64_t>(target_count_);
    const int end = pad(memory_.cells_for_bodies, body_cell_count_);
    body_cell_count_ = 0;
    if (end == 0) return;
    const lanes softening = spread(plummer_squared());
    for (int body = 0; body < target_count_; ++body) {
      lanes sums[4] = {};
      const lanes x = spread(memory_.targets[0][body]), y = spread(memory_.targets[1][body]);
      const lanes z = spread(memory_.targets[2][body]);
      for (int first = 0; first < end; first += lane_count) {
        const float* local = memory_.cells_for_bodies + first;
        const lane_vector v{load<lanes>(local) + x, load<lanes>(local + room) + y, load<lanes>(local + 2 * room) + z};
        lanes table[terms_up_to(Order)];
        derivatives<Order>(v, v.x * v.x + v.y * v.y + v.z * v.z + softening, table);
        add_expansion<source_degree, 1, Order>(table, load<lanes>(local + 3 * room), local + 4 * room, room, sums);
      }
      memory_.targets[6][body] += sum_of(sums[0]);
      for (int axis = 0; axis < 3; ++axis) memory_.targets[3 + axis][body] += sum_of(sums[1 + axis]);
    }
  }
  [[nodiscard]] float plummer_squared() const {
    return task_.rules.shape == softening_shape::plummer ? task_.rules.softening_squared : 0;
  }

  /// The active bodies of a leaf become targets.
  void take_targets(const body_lanes& body_lanes, std::uint32_t count, std::uint32_t first_body) {
    const std::uint32_t* active = task_.active_before;
    float low[3] = {}, high[3] = {};
    target_count_ = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (active != nullptr && active[first_body + k] == active[first_body + k + 1]) continue;
      const float place[3] = {body_lanes.x[k], body_lanes.y[k], body_lanes.z[k]};
      for (int axis = 0; axis < 3; ++axis) {
        memory_.targets[axis][target_count_] = place[axis];
        if (target_count_ == 0 || place[axis] < low[axis]) low[axis] = place[axis];
        if (target_count_ == 0 || place[axis] > high[axis]) high[axis] = place[axis];
      }
      for (int result = 3; result < 7; ++result) memory_.targets[result][target_count_] = 0;
      memory_.target_index[target_count_++] = first_body + k;
    }
    target_.box_x = (low[0] + high[0]) / 2, target_.half_x = (high[0] - low[0]) / 2;
    target_.box_y = (low[1] + high[1]) / 2, target_.half_y = (high[1] - low[1]) / 2;
    target_.box_z = (low[2] + high[2]) / 2, target_.half_z = (high[2] - low[2]) / 2;
  }

  /// The bodies of a leaf become sources; (x, y, z) is the way from it to the target.
  void take_sources(const group_head* g, int lane, float x, float y, float z) {
    const body_lanes body_lanes = bodies(g, lane);
    const int count = static_cast<int>(g->count[lane]);
    const float shift[3] = {x, y, z};
    const float* const source[4] = {body_lanes.x, body_lanes.y, body_lanes.z, body_lanes.mass};
    counts_.sources += static_cast<std::uint64_t>(count);
    for (int done = 0; done < count;) {
      if (near_count_ == static_cast<int>(walk_memory::near_bodies)) finish_near();
      const int room_left = static_cast<int>(walk_memory::near_bodies) - near_count_;
      const int part = count - done < room_left ? count - done : room_left;
      for (int axis = 0; axis < 3; ++axis) {
        float* target = memory_.near[axis] + near_count_;
        for (int k = 0; k < part; ++k) target[k] = source[axis][done + k] - shift[axis];
      }
      float* target = memory_.near[3] + near_count_;
      for (int k = 0; k < part; ++k) target[k] = source[3][done + k];
      near_count_ += part, done += part;
    }
  }

  void finish_near() {
    counts_.body_body += static_cast<std::uint64_t>(near_count_) * static_cast<std::uint64_t>(target_count_);
    const int end = (near_count_ + lane_count - 1) / lane_count * lane_count;
    for (int k = near_count_; k < end; ++k) {
      for (int field = 0; field < 4; ++field) memory_.near[field][k] = 0;
    }
    near_count_ = 0;
    if (end > 0) add_pairs(memory_.near, end, memory_.targets, target_count_, task_.rules);
  }

  void finish_leaf(const local_expansion<Order>& local) {
    finish_body_cells();
    finish_near();
    for (int k = 0; k < target_count_; k += lane_count) local.evaluate(memory_.targets, k);
    for (int k = 0; k < target_count_; ++k) {
      for (int result = 0; result < 4; ++result) {
        memory_.results[result][memory_.target_index[k]] = memory_.targets[3 + result][k];
      }
    }
  }

  const walk_task& task_;
  walk_memory& memory_;
  walk_counts& counts_;
  target_cell target_{};
  local_expansion<Order> local_{};  // what has been added to the target so far
  int target_count_ = 0, cell_count_ = 0, body_cell_count_ = 0, near_count_ = 0;
};

}  // namespace
}  // namespace nbody
