// SPDX-License-Identifier: Apache-2.0
// The collective that runs an emulation: makes the blocks, lets them run, and adds up their counts.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/error.hpp>
#include "emulator/emulated_block.hpp"
#include "emulator/handler_tables.hpp"

namespace nacre {
namespace {

using detail::emulated_block;
using detail::emulation_coordinator;
using block_ptr = mobile_ptr<emulated_block>;

/// So many blocks at most: each round costs two messages a block.
constexpr std::uint32_t blocks_max = 4096;

std::uint32_t blocks_for(runtime& rt, const emulated_machine& machine, const emulation_options& options) {
  const std::uint32_t workers = rt.all_reduce(rt.workers(), std::plus<>{});
  std::uint32_t blocks = options.blocks != 0 ? options.blocks : workers == 1 ? 1 : 4 * workers;
  blocks = std::min(blocks, blocks_max);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, machine.nodes()));
}

void add(emulation_counts& sum, const emulation_counts& one) {
  sum.events += one.events;
  sum.messages += one.messages;
  sum.hops += one.hops;
  sum.delayed += one.delayed;
  sum.held_back += one.held_back;
  sum.stalled += one.stalled;
  sum.stall += one.stall;
  sum.end = std::max(sum.end, one.end);
  sum.busy += one.busy;
  sum.bytes += one.bytes;
}

/// The outcome as rank 0 tells it to all.
struct outcome {
  emulation_counts counts;
  std::uint64_t windows = 0;
  detail::emulation_failure failure;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(counts, windows, failure);
  }
};

outcome collect(runtime& rt, const std::vector<block_ptr>& blocks, mobile_ptr<emulation_coordinator> coordinator) {
  outcome sum;
  sum.failure = rt.call<&emulation_coordinator::failure>(coordinator).get();
  sum.windows = rt.call<&emulation_coordinator::rounds>(coordinator).get() - 1;
  std::vector<future<emulation_counts>> counts;
  for (const block_ptr& block : blocks) counts.push_back(rt.call<&emulated_block::counts>(block));
  for (auto& one : counts) add(sum.counts, one.get());
  return sum;
}

}  // namespace

emulation emulate(runtime& rt, const emulated_machine& machine, const std::function<void(emulated_node&)>& start,
                  const emulation_options& options) {
  check_machine(machine);
  static_cast<void>(emulator::handler_table());
  static_cast<void>(emulator::state_table());
  const double began = rt.now();
  const emulator::partition cut(machine.grid, blocks_for(rt, machine, options));
  std::vector<block_ptr> own;
  const std::uint32_t rank = rt.rank().value();
  for (std::uint32_t block = 0; block < cut.blocks(); ++block) {
    // Neighbouring blocks on one rank, as an equal share of all.
    if (std::uint64_t{block} * rt.size() / cut.blocks() != rank) continue;
    own.push_back(rt.create<emulated_block>(machine, cut.blocks(), block));
  }
  std::vector<block_ptr> blocks;
  for (const auto& of_rank : rt.all_gather(own)) blocks.insert(blocks.end(), of_rank.begin(), of_rank.end());
  mobile_ptr<emulation_coordinator> coordinator;
  if (rank == 0) coordinator = rt.create<emulation_coordinator>(machine, blocks, options.progress);
  coordinator = rt.broadcast(coordinator, rank_id{0});
  for (const block_ptr& block : own) {
    rt.send<&emulated_block::begin>(block, coordinator, blocks, reinterpret_cast<std::uintptr_t>(&start));
  }
  rt.wait_quiescence();
  const double seconds = rt.all_reduce(rt.now() - began, [](double a, double b) { return std::max(a, b); });
  outcome result;
  if (rank == 0) result = collect(rt, blocks, coordinator);
  result = rt.broadcast(result, rank_id{0});
  for (const block_ptr& block : own) rt.destroy(block);
  if (rank == 0) rt.destroy(coordinator);
  if (result.failure.failed) throw usage_error(result.failure.text);
  return emulation(result.counts, result.windows, seconds);
}

}  // namespace nacre
