// SPDX-License-Identifier: Apache-2.0
// Publishing, fetching, serving.
#include "parallel/store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "parallel/piece.hpp"

namespace nbody {

store_counts add_counts::operator()(const store_counts& a, const store_counts& b) const {
  return {.needed = a.needed + b.needed,
          .fetched = a.fetched + b.fetched,
          .pushed = a.pushed + b.pushed,
          .requests = a.requests + b.requests,
          .answers = a.answers + b.answers,
          .bytes = a.bytes + b.bytes};
}

void store::begin(epoch_number epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  own_trees_.clear();
  fetched_.clear();
  waiters_.clear();
  early_.clear();
}

void store::forget_before(epoch_number epoch) {
  const std::scoped_lock lock(mutex_);
  begin(epoch);
}

void store::publish(epoch_number epoch, std::uint32_t number, branch_tree&& tree) {
  auto kept = std::make_unique<branch_tree>(std::move(tree));
  const std::scoped_lock lock(mutex_);
  begin(epoch);
  const bool is_new = own_trees_.emplace(number, std::move(kept)).second;
  NACRE_EXPECT(is_new, "two pieces have built one branch");
}

void store::set_plan(nacre::context& ctx, cut_plan plan) {
  {
    const std::scoped_lock lock(mutex_);
    begin(plan.epoch);
    plan_ = std::move(plan);
  }
  call_early_pieces(ctx);
}

bool store::awaits_plan(epoch_number epoch, nacre::mobile_ptr<piece> object) {
  const std::scoped_lock lock(mutex_);
  if (plan_.epoch == epoch) return false;
  early_pieces_.push_back(object);
  return true;
}

bool store::awaits_roots(epoch_number epoch, nacre::mobile_ptr<piece> object) {
  const std::scoped_lock lock(mutex_);
  if (roots_epoch_ == epoch) return false;
  early_pieces_.push_back(object);
  return true;
}

void store::call_early_pieces(nacre::context& ctx) {
  std::vector<nacre::mobile_ptr<piece>> pieces;
  {
    const std::scoped_lock lock(mutex_);
    pieces.swap(early_pieces_);
  }
  for (const auto& each : pieces) ctx.send<&piece::arrived>(each, epoch_);
}

void store::set_roots(nacre::context& ctx, group everywhere, std::vector<branch_root> roots) {
  const nacre::phase phase(ctx, "top");
  {
    const std::scoped_lock lock(mutex_);
    take_roots(ctx.rank(), std::move(roots));
  }
  call_early_pieces(ctx);
  if (plan_.pushes && ctx.size() > 1) push(ctx, everywhere);
}

void store::take_roots(nacre::rank_id rank, std::vector<branch_root> roots) {
  roots_ = std::move(roots);
  top_ = build_top(roots_, rules());
  views_.assign(roots_.size(), {});
  asked_.assign(roots_.size(), 0);
  present_.assign(roots_.size(), 0);
  std::size_t own_branches = 0;
  for (std::uint32_t branch = 0; branch < roots_.size(); ++branch) {
    if (roots_[branch].owner != rank.value()) continue;
    ++own_branches;
    views_[branch] = own_trees_.at(branch)->view();
    present_[branch] = (1u << parts_max) - 1;
  }
  NACRE_EXPECT(own_branches == own_trees_.size(), "a branch that was built here is another rank's");
  roots_epoch_ = epoch_;
  for (const early_parts& each : std::exchange(early_, {})) insert(each.names, each.bytes);
}

bool store::fetch(nacre::context& ctx, group everywhere, std::uint32_t first, std::uint32_t end,
                  nacre::mobile_ptr<piece> object) {
  if (ctx.size() == 1) return false;
  const nacre::phase phase(ctx, "look");
  const auto waiting = std::make_shared<waiter>(waiter{object, 0});
  std::map<std::uint32_t, std::vector<part_name>> requests;  // by owner
  bool waits = false;
  {
    const std::scoped_lock lock(mutex_);
    const bool asks = !plan_.pushes || (first < end && roots_[first].owner != ctx.rank().value());
    std::vector<part_mask> masks(roots_.size());
    const looked_branches others{.views = views_, .roots = roots_, .rank = ctx.rank().value(), .owned = false};
    for (std::uint32_t branch = first; branch < end; ++branch) {
      add_essential(top_, rules().wanted.order, others, roots_[branch].low, roots_[branch].high, masks);
    }
    std::uint64_t needed = 0;
    for (std::uint32_t branch = 0; branch < roots_.size(); ++branch) {
      if (masks[branch] == 0) continue;
      needed += static_cast<std::uint64_t>(__builtin_popcount(masks[branch]));
      const part_mask missing = masks[branch] & ~present_[branch];
      for (std::uint32_t part = 0; part < parts_max; ++part) {
        if ((missing >> part & 1) == 0) continue;
        waiters_[{branch, part}].push_back(waiting);
        ++waiting->parts;
        if (asks && (asked_[branch] >> part & 1) == 0) requests[roots_[branch].owner].push_back({branch, part});
      }
      if (asks) asked_[branch] |= missing;
    }
    waits = waiting->parts != 0;  // the last part may be here before this function returns
    if (!waits) counts_.needed += needed;
    for (const auto& [owner, names] : requests) ++counts_.requests, counts_.fetched += names.size();
  }
  for (const auto& [owner, names] : requests) {
    ctx.send<&store::serve>(everywhere[nacre::rank_id{owner}], everywhere, epoch_, names);
  }
  return waits;
}

void store::add_part(const part_name& name, std::vector<std::byte>& bytes) const {
  const branch_tree& tree = *own_trees_.at(name.branch);
  if (name.part == groups_part) {
    bytes.insert(bytes.end(), tree.groups.data(), tree.groups.data() + tree.groups.bytes());
    return;
  }
  const body_range range = bodies_of(tree.root, tree.groups.first(), name.part);
  for (const std::vector<float>* each : {&tree.x, &tree.y, &tree.z, &tree.mass}) {
    const auto values = std::as_bytes(std::span(*each).subspan(range.first, range.count));
    bytes.insert(bytes.end(), values.begin(), values.end());
  }
}

void store::serve(nacre::context& ctx, group everywhere, epoch_number epoch, const std::vector<part_name>& names) {
  NACRE_EXPECT(epoch == epoch_, "a part of another evaluation is asked for");
  send_parts(ctx, everywhere, ctx.source(), names);
}

void store::push(nacre::context& ctx, group everywhere) {
  const nacre::phase named(ctx, "push");
  const std::uint32_t local_count = ctx.rank().value();
  looked_branches own{.views = views_, .roots = roots_, .rank = local_count, .owned = true, .range = {}};
  if (!own_trees_.empty()) own.range = {own_trees_.begin()->first, own_trees_.rbegin()->first + 1};
  std::vector<std::vector<part_name>> names(ctx.size());
  std::vector<std::vector<part_mask>> masks(ctx.size());
  for (std::uint32_t target = 0; target < roots_.size(); ++target) {
    const branch_root& root = roots_[target];
    if (root.owner == local_count) continue;
    masks[root.owner].resize(roots_.size());
    add_essential(top_, rules().wanted.order, own, root.low, root.high, masks[root.owner]);
  }
  for (std::uint32_t rank = 0; rank < ctx.size(); ++rank) {
    for (std::uint32_t branch = 0; branch < masks[rank].size(); ++branch) {
      for (std::uint32_t part = 0; part < parts_max; ++part) {
        if ((masks[rank][branch] >> part & 1) != 0) names[rank].push_back({branch, part});
      }
    }
    if (names[rank].empty()) continue;
    {
      const std::scoped_lock lock(mutex_);
      counts_.pushed += names[rank].size();
    }
    send_parts(ctx, everywhere, nacre::rank_id{rank}, names[rank]);
  }
}

void store::send_parts(nacre::context& ctx, group everywhere, nacre::rank_id target,
                       const std::vector<part_name>& names) {
  const nacre::phase phase(ctx, "send parts");
  constexpr std::size_t answer_bytes = 1 << 16;  // about: larger ones keep walks waiting, in memory from the system
  std::vector<part_name> sent;
  std::vector<std::byte> bytes;  // of these
  for (std::size_t k = 0; k < names.size(); ++k) {
    sent.push_back(names[k]);
    add_part(names[k], bytes);
    if (bytes.size() < answer_bytes && k + 1 < names.size()) continue;
    ctx.send<&store::deliver>(everywhere[target], epoch_, std::exchange(sent, {}), std::span<const std::byte>(bytes));
    bytes.clear();
  }
}

void store::insert(const std::vector<part_name>& names, std::span<const std::byte> bytes) {
  counts_.bytes += bytes.size();
  for (const part_name& name : names) {
    bytes = name.part == groups_part ? insert_groups(name.branch, bytes) : insert_bodies(name, bytes);
    present_[name.branch] |= 1u << name.part;
  }
  NACRE_EXPECT(bytes.empty(), "parts that do not fit");
}

std::span<const std::byte> store::insert_groups(std::uint32_t branch, std::span<const std::byte> bytes) {
  const std::size_t size = roots_[branch].group_count * group_bytes(rules().wanted.order);
  NACRE_EXPECT(bytes.size() >= size, "groups that do not fit");
  if (group_array& groups = fetched_[branch].groups; groups.bytes() == 0) {  // walks may read those that are here
    groups = group_array(size, 1);
    std::memcpy(groups.data(), bytes.data(), size);
    views_[branch].groups = groups.first();
  }
  return bytes.subspan(size);
}

std::span<const std::byte> store::insert_bodies(const part_name& name, std::span<const std::byte> bytes) {
  const branch_root& root = roots_[name.branch];
  const std::size_t count = root.moments.count;
  std::vector<float>& bodies = fetched_[name.branch].bodies;
  branch_view& view = views_[name.branch];
  if (bodies.empty()) {
    bodies.resize(4 * count);
    const float* first = bodies.data();
    view.bodies = {first, first + count, first + 2 * count, first + 3 * count};
  }
  const body_range range = bodies_of(root, view.groups, name.part);
  const std::size_t size = range.count * sizeof(float);
  NACRE_EXPECT(bytes.size() >= 4 * size, "bodies that do not fit");
  if ((present_[name.branch] >> name.part & 1) == 0) {
    for (std::size_t k = 0; k < 4; ++k) {
      std::memcpy(bodies.data() + k * count + range.first, bytes.data() + k * size, size);
    }
  }
  return bytes.subspan(4 * size);
}

void store::deliver(nacre::context& ctx, epoch_number epoch, std::vector<part_name> names,
                    std::span<const std::byte> bytes) {
  std::vector<nacre::mobile_ptr<piece>> ready;
  {
    const std::scoped_lock lock(mutex_);
    if (plan_.pushes && epoch < epoch_) return;
    NACRE_EXPECT(epoch == epoch_, "a part of another evaluation has come");
    ++counts_.answers;
    if (roots_epoch_ != epoch) {
      early_.push_back({std::move(names), {bytes.begin(), bytes.end()}});
      return;
    }
    insert(names, bytes);
    for (const part_name& each : names) {
      const auto match = waiters_.find(each);
      if (match == waiters_.end()) continue;  // pushed before a walk has looked, or twice
      for (const auto& waiting : match->second) {
        if (--waiting->parts == 0) ready.push_back(waiting->client);
      }
      waiters_.erase(match);
    }
  }
  for (const auto& object : ready) ctx.send<&piece::arrived>(object, epoch);
}

std::unique_ptr<walk_memory> store::borrow() {
  const std::scoped_lock lock(mutex_);
  if (memory_.empty()) return std::make_unique<walk_memory>();
  auto memory = std::move(memory_.back());
  memory_.pop_back();
  return memory;
}

void store::give_back(std::unique_ptr<walk_memory> memory) {
  const std::scoped_lock lock(mutex_);
  memory_.push_back(std::move(memory));
}

store_counts store::take_counts() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(counts_, {});
}

}  // namespace nbody
