// SPDX-License-Identifier: Apache-2.0
// A piece in a step: drift, sort, exchange, trees.
#include "parallel/piece.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace nbody {
namespace {

template <class T>
void release(std::vector<T>& memory) {
  std::vector<T>().swap(memory);
}

}  // namespace

void piece::fill(nacre::context& ctx, model_settings model, std::uint32_t pieces) {
  number_ = static_cast<std::uint32_t>(ctx.index()[0]);
  const auto bound = [&](std::uint64_t piece) { return static_cast<std::uint32_t>(piece * model.bodies / pieces); };
  bodies_ = bodies_of_model(model, bound(number_), bound(number_ + 1));
}

void piece::adopt(std::vector<body> bodies) { bodies_ = std::move(bodies); }

void piece::shift(vector3 place, vector3 velocity) {
  for (body& each : bodies_) each.place = each.place - place, each.velocity = each.velocity - velocity;
}

std::vector<branch_sums> piece::total() const {
  branch_sums sums;
  for (const body& each : bodies_) {
    sums.mass += each.mass;
    sums.momentum = sums.momentum + each.mass * each.velocity;
    sums.first_moment = sums.first_moment + each.mass * each.place;
  }
  return {sums};
}

body_box piece::box() const {
  body_box box;
  for (const body& each : bodies_) box = join_boxes{}(box, {each.place, each.place, 0});
  return box;
}

drift_report piece::drift(nacre::context& ctx, substep now, sort_plan plan, store::group stores) {
  const nacre::phase phase(ctx, "drift");
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    body& each = bodies_[k];
    if (now.begins(each.rung)) each.velocity = each.velocity + 0.5 * now.step_of(each.rung) * accelerations_[k];
    each.place = each.place + now.seconds() * each.velocity;
  }
  release(accelerations_);
  drift_report report{.box = box()};
  if (plan.epoch != 0 && is_finite(report.box)) report.counts = sort(ctx, std::move(plan), stores);
  return report;
}

std::vector<std::uint64_t> piece::sort(nacre::context& ctx, sort_plan plan, store::group stores) {
  const nacre::phase phase(ctx, "sort");
  ctx.local(stores).forget_before(plan.epoch);
  keys_ = sort_along_curve(bodies_, plan.bounds);
  return counts(std::move(plan.cells));
}

std::vector<std::uint64_t> piece::counts(std::vector<curve_cell> cells) const {
  std::vector<std::uint64_t> result(cells.size());
  if (keys_.empty()) return result;
  const auto ends_before = [&](const curve_cell& cell) { return cell.end() <= keys_.front(); };
  auto cell = std::partition_point(cells.begin(), cells.end(), ends_before);
  for (auto first = keys_.begin(); cell != cells.end() && cell->first <= keys_.back(); ++cell) {
    first = std::lower_bound(first, keys_.end(), cell->first);
    const auto next = std::lower_bound(first, keys_.end(), cell->end());
    result[static_cast<std::size_t>(cell - cells.begin())] = static_cast<std::uint64_t>(next - first);
    first = next;
  }
  return result;
}

/// Sends away the bodies of other pieces' branches, and keeps the others. Keeps the keys if all bodies stay, and none
/// of the `expected` ones are to come.
void piece::send_leavers(nacre::context& ctx, const cut_plan& plan, const array& pieces, std::size_t expected) {
  std::vector<body> bodies;
  for (std::uint32_t other = 0; other + 1 < plan.first_of_piece.size(); ++other) {
    const std::uint32_t first = plan.first_of_piece[other], end = plan.first_of_piece[other + 1];
    if (first == end) continue;
    const curve_key low = plan.branches[first].cell.first, high = plan.branches[end - 1].cell.end();
    const auto begin = std::lower_bound(keys_.begin(), keys_.end(), low) - keys_.begin();
    const auto last = std::lower_bound(keys_.begin(), keys_.end(), high) - keys_.begin();
    if (begin == last) continue;
    std::vector<body> part(bodies_.begin() + begin, bodies_.begin() + last);
    if (other == number_) {
      bodies = std::move(part);
    } else {
      ctx.send<&piece::take>(pieces[other], plan.epoch, std::move(part));
    }
  }
  bodies_ = std::move(bodies);
  if (bodies_.size() == expected && keys_.size() == expected) return;
  release(keys_);
  bodies_.reserve(expected);  // growing by doubling would take half as much again
}

nacre::awaited<> piece::take(epoch_number /*epoch*/, std::vector<body> bodies) {
  bodies_.insert(bodies_.end(), bodies.begin(), bodies.end());
  return {};
}

nacre::task<std::vector<branch_root>> piece::build(nacre::context& ctx, epoch_number epoch, array pieces,
                                                   store::group stores) {
  const nacre::phase phase(ctx, "build");
  if (ctx.local(stores).awaits_plan(epoch, ctx.self<piece>())) co_await ctx.next<&piece::arrived>(epoch);
  const cut_plan& plan = ctx.local(stores).plan();  // of this evaluation until all pieces have built
  number_ = static_cast<std::uint32_t>(ctx.index()[0]);
  first_branch_ = plan.first_of_piece[number_], end_branch_ = plan.first_of_piece[number_ + 1];
  std::uint64_t expected = 0;
  counts_.clear();
  for (std::uint32_t branch = first_branch_; branch < end_branch_; ++branch) {
    counts_.push_back(plan.branches[branch].count);
    expected += counts_.back();
  }
  send_leavers(ctx, plan, pieces, expected);
  while (bodies_.size() < expected) co_await ctx.next<&piece::take>(plan.epoch);
  NACRE_ENSURE(bodies_.size() == expected, "a body has two owners");
  if (keys_.size() != bodies_.size()) keys_ = sort_along_curve(bodies_, plan.rules.bounds);
  std::vector<branch_root> roots;
  build_branches(ctx, plan, ctx.local(stores), roots);
  release(keys_);
  co_return roots;
}

void piece::build_branches(nacre::context& ctx, const cut_plan& plan, store& store, std::vector<branch_root>& roots) {
  std::size_t first = 0;
  for (std::uint32_t branch = first_branch_; branch < end_branch_; ++branch) {
    const auto count = static_cast<std::size_t>(plan.branches[branch].count);
    branch_tree tree = build_branch(std::span(bodies_).subspan(first, count), std::span(keys_).subspan(first, count),
                                    plan.branches[branch].cell, branch, plan.rules);
    tree.root.owner = ctx.rank().value();
    roots.push_back(tree.root);
    store.publish(plan.epoch, branch, std::move(tree));
    first += count;
  }
}

}  // namespace nbody
