// SPDX-License-Identifier: Apache-2.0
// Blocks of an adaptive mesh, born and ended as a circle moves, in short steps, under any balancer.
#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <defaults/parts/stepping.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <program_options.hpp>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

struct problem {
  int level_max = 8;
  int regrids = 20, steps = 5;  // steps behind each regridding
  std::uint64_t values = 256;   // of a block
  double block_seconds = 5e-6;  // of a step
  bool by_hand = false;
  bool simulated = false;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(level_max, regrids, steps, values, block_seconds, by_hand, simulated);
  }
};

struct key {  // block (x, y) of the 2^level times 2^level blocks of its level
  std::int32_t level = 0, x = 0, y = 0;
  friend auto operator<=>(const key&, const key&) = default;
  [[nodiscard]] double width() const { return std::ldexp(1, -level); }
  [[nodiscard]] key parent() const { return {level - 1, x / 2, y / 2}; }
  [[nodiscard]] std::array<key, 4> kids() const {
    const std::int32_t next = level + 1, west = 2 * x, south = 2 * y;
    return {{{next, west, south}, {next, west, south + 1}, {next, west + 1, south}, {next, west + 1, south + 1}}};
  }
};

}  // namespace

template <>
struct std::hash<key> {
  std::size_t operator()(const key& key) const {
    return ((static_cast<std::size_t>(key.level) * 65536 + static_cast<std::size_t>(key.x)) * 65536 +
            static_cast<std::size_t>(key.y)) *
               2 +
           1;
  }
};

namespace {

/// Whether the circle of a regridding crosses a block, which then has kids. It crosses the block's parent then, too.
bool is_split(const problem& asked, const key& key, int regrid) {
  const double width = key.width(), moved = 0.3 + 0.2 * regrid / asked.regrids;
  const double x = key.x * width - moved, y = key.y * width - 0.5;
  const double near_x = std::max({x, -x - width, 0.0}), near_y = std::max({y, -y - width, 0.0}), square = 0.04;
  const double far_x = std::max(-x, x + width), far_y = std::max(-y, y + width);
  return key.level < asked.level_max && near_x * near_x + near_y * near_y <= square &&
         far_x * far_x + far_y * far_y >= square;
}

/// Finds the leaves in `cell_key` that touch its edge: 0 to 3 for west, east, south, north.
void find_touching(const problem& asked, const key& cell_key, int edge, int regrid, std::vector<key>& keys) {
  if (!is_split(asked, cell_key, regrid)) return keys.push_back(cell_key);
  for (const key& kid : cell_key.kids())
    if ((edge < 2 ? kid.x : kid.y) % 2 == edge % 2) find_touching(asked, kid, edge, regrid, keys);
}

std::vector<key> neighbours(const problem& asked, const key& cell_key, int regrid) {
  std::vector<key> keys;
  for (int edge = 0; edge < 4; ++edge) {
    const int shift = edge % 2 * 2 - 1;
    key neighbour{cell_key.level, cell_key.x + (edge < 2 ? shift : 0), cell_key.y + (edge < 2 ? 0 : shift)};
    if (std::min(neighbour.x, neighbour.y) < 0 || std::max(neighbour.x, neighbour.y) >= 1 << cell_key.level) continue;
    while (neighbour.level > 0 && !is_split(asked, neighbour.parent(), regrid)) neighbour = neighbour.parent();
    find_touching(asked, neighbour, edge ^ 1, regrid, keys);
  }
  return keys;
}

/// The leaves of a regridding along a curve without jumps between neighbours of one parent.
void find_leaves(const problem& asked, const key& cell_key, int regrid, std::vector<key>& keys) {
  if (!is_split(asked, cell_key, regrid)) return keys.push_back(cell_key);
  for (const key& kid : cell_key.kids()) find_leaves(asked, kid, regrid, keys);
}

/// Which rank has which leaf when somebody places them who knows them all: equal pieces of the curve. Simulated ranks
/// of a process make it once.
class placements {
 public:
  std::uint32_t rank_of(const problem& asked, const key& leaf, int regrid, std::uint32_t ranks) {
    const std::scoped_lock lock(guard_);
    const auto [place, is_new] = known_.try_emplace(regrid);
    if (is_new) {
      std::vector<key> leaves;
      find_leaves(asked, key{}, regrid, leaves);
      for (std::size_t n = 0; n < leaves.size(); ++n)
        place->second[leaves[n]] = static_cast<std::uint32_t>(n * ranks / leaves.size());
    }
    return place->second.at(leaf);
  }

 private:
  std::mutex guard_;
  std::map<int, std::map<key, std::uint32_t>> known_;
};

placements& all_placements() {
  static placements all;
  return all;
}

using mesh = nacre::keyed_array_ptr<class block, key>;

class block {
 public:
  block() = default;
  block(const key& key, const problem& asked) : place_(key), asked_(asked), values_(asked.values) {}

  /// Makes kids, or takes them back.
  nacre::task<void> adapt(nacre::context& ctx, mesh blocks, int regrid) {
    const bool split = is_split(asked_, place_, regrid);
    if (is_leaf_ && split) {
      is_leaf_ = false;
      for (const key& kid : place_.kids()) co_await ctx.insert(blocks, kid, kid, asked_);
    } else if (!is_leaf_ && !split) {
      for (const key& kid : place_.kids()) {
        co_await ctx.call<&block::adapt>(blocks[kid], blocks, regrid);
        co_await ctx.erase(blocks, kid);
      }
      is_leaf_ = true;
      co_return;
    }
    if (split)
      for (const key& kid : place_.kids()) co_await ctx.call<&block::adapt>(blocks[kid], blocks, regrid);
  }
  void place(nacre::context& ctx, int regrid) {
    if (!is_leaf_) return;
    const std::uint32_t rank = all_placements().rank_of(asked_, place_, regrid, ctx.size());
    if (rank != ctx.rank().value()) static_cast<void>(ctx.migrate(ctx.self<block>(), nacre::rank_id(rank)));
  }
  nacre::awaited<> halo(int /*step*/, std::vector<double> /*values*/) { return {}; }
  /// One step; it sends itself the next one, so that the block may move in between.
  nacre::task<void> advance(nacre::context& ctx, mesh blocks, int regrid, int step) {
    if (!is_leaf_) co_return;
    const std::vector<key> others = neighbours(asked_, place_, regrid);
    for (const key& other : others) ctx.send<&block::halo>(blocks[other], step, std::vector<double>(16));
    co_await ctx.next_n<&block::halo>(step, others.size());
    defaults::spend(ctx, asked_.block_seconds, asked_.simulated);
    steps_done_ = ++step;
    if (step % asked_.steps != 0) ctx.send<&block::advance>(ctx.self<block>(), blocks, regrid, step);
  }
  /// Of a leaf of the last regridding that has made all steps: 1.
  [[nodiscard]] std::uint64_t is_done() const {
    return is_leaf_ && steps_done_ == asked_.regrids * asked_.steps ? 1 : 0;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(place_, asked_, is_leaf_, steps_done_, values_);
  }

 private:
  key place_;
  problem asked_{};
  bool is_leaf_ = true;
  int steps_done_ = 0;
  std::vector<double> values_;
};

double work_of(const problem& asked) {
  std::size_t leaves = 0;
  for (int regrid = 0; regrid < asked.regrids; ++regrid) {
    std::vector<key> keys;
    find_leaves(asked, key{}, regrid, keys);
    leaves += keys.size();
  }
  return static_cast<double>(leaves) * asked.steps * asked.block_seconds;
}

/// The time is that of the steps, and of the placement by hand before them, from one quiescence to the next. Regridding
/// is not in it.
defaults::outcome run(nacre::runtime& rt, const problem& asked) {
  const nacre::keyed_by<key> names{.home = nacre::by_curve{}};
  const mesh blocks = rt.create_array<block>(names, nacre::sparse);
  const bool leads = rt.rank().value() == 0;
  if (leads) rt.insert(blocks, key{}, key{}, asked).get();
  rt.wait_quiescence();
  double seconds = 0;
  const nacre::rank_counters rank_counters = rt.counters();
  for (int regrid = 0; regrid < asked.regrids; ++regrid) {
    if (leads) rt.send<&block::adapt>(blocks[key{}], blocks, regrid);
    rt.wait_quiescence();
    const double start = rt.now();
    if (asked.by_hand) {
      if (leads) rt.send<&block::place>(blocks, regrid);
      rt.wait_quiescence();
    }
    if (leads) rt.send<&block::advance>(blocks, blocks, regrid, regrid * asked.steps);
    rt.wait_quiescence();
    seconds += rt.now() - start;
  }
  defaults::outcome outcome = defaults::counted(rt, rank_counters);
  outcome.seconds = seconds;
  if (leads) {
    std::vector<key> leaves;
    find_leaves(asked, key{}, asked.regrids - 1, leaves);
    outcome.is_right = rt.reduce<&block::is_done>(blocks, std::plus<>{}).get() == leaves.size();
  }
  rt.barrier();
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    problem asked;
    asked.simulated = configuration.get_string("transport") == "sim";
    std::uint64_t level = 8, regrids = 20, steps = 5;
    nacre::program_options options("blocks",
                                   "Blocks of an adaptive mesh that are born and end as a circle moves. Prints how "
                                   "long all steps have taken beside the ideal, the work of all steps / workers.");
    options.add("--level", level, "The finest level").between(1, 12);
    options.add("--regrids", regrids, "How often the mesh is made anew").between(1, 10'000);
    options.add("--steps", steps, "Steps behind each of them").between(1, 10'000);
    options.add("--block-seconds", asked.block_seconds, "What a step of a block takes").between(0, 1);
    options.add("--by-hand", asked.by_hand, "Place the blocks by hand before the steps, equally many a rank");
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    asked.level_max = static_cast<int>(level);
    asked.regrids = static_cast<int>(regrids);
    asked.steps = static_cast<int>(steps);
    bool is_right = true;
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      const defaults::outcome outcome = run(rt, asked);
      if (rt.rank().value() == 0) is_right = defaults::print("blocks", outcome, work_of(asked), rt);
    });
    return code != 0 ? code : is_right ? 0 : 3;
  } catch (const nacre::setup_error& error) {
    std::fprintf(stderr, "blocks: %s\n", error.what());
    return nacre::program_options::usage_code;
  }
}
