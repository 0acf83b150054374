// SPDX-License-Identifier: Apache-2.0
// The collective that runs an emulation: makes the blocks, lets them run, and adds up their counts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>
#include <nacre/error.hpp>
#include "emulator/emulated_block.hpp"
#include "emulator/handler_tables.hpp"
#include "emulator/profile_collection.hpp"
#include "emulator/profile_file.hpp"
#include "emulator/sum_of_times.hpp"

namespace nacre {
namespace {

using detail::emulated_block;
using detail::emulation_coordinator;
using block_ptr = mobile_ptr<emulated_block>;

/// At most so many blocks, because each round costs two messages a block.
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
  sum.late += one.late;
  sum.stalled += one.stalled;
  emulator::add_time(sum.stall, one.stall);
  sum.link_waits += one.link_waits;
  emulator::add_time(sum.link_wait, one.link_wait);
  sum.end = std::max(sum.end, one.end);
  emulator::add_time(sum.busy, one.busy);
  sum.bytes += one.bytes;
  sum.by_hops.resize(std::max(sum.by_hops.size(), one.by_hops.size()));
  for (std::size_t hops = 0; hops < one.by_hops.size(); ++hops) sum.by_hops[hops] += one.by_hops[hops];
}

/// The outcome as rank 0 tells it to all.
struct outcome {
  emulation_counts counts;
  std::uint64_t windows = 0;
  detail::emulation_failure failure;
  critical_path path;
  std::string profile_problem;  ///< why the profile could not be written
  template <class Archive>
  void serialize(Archive& ar) {
    ar(counts, windows, failure, path, profile_problem);
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

/// Follows the critical path from the handler that ended last, through the blocks that it has passed.
critical_path path_of(runtime& rt, const emulator::partition& cut, const std::vector<block_ptr>& blocks) {
  critical_path path;
  std::vector<future<emulator::path_end>> ends;
  for (const block_ptr& block : blocks) ends.push_back(rt.call<&emulated_block::end_of_path>(block));
  emulator::path_end last;
  std::uint32_t in = 0;
  bool known = true;
  for (std::uint32_t block = 0; block < ends.size(); ++block) {
    const emulator::path_end one = ends[block].get();
    known = known && one.known;
    const bool later = one.time > last.time || (one.time == last.time && one.node < last.node);
    if (!one.any || (last.any && !later)) continue;
    last = one;
    in = block;
  }
  if (!known) return path;
  path.known = true;
  emulator::path_cursor path_cursor;
  path_cursor.ended = !last.any;
  while (!path_cursor.ended) {
    const emulator::path_piece piece = rt.call<&emulated_block::walk_path>(blocks[in], path_cursor).get();
    emulator::add_part(path, piece.part);
    path_cursor = piece.next;
    in = cut.place_of(path_cursor.node).block;
  }
  emulator::complete(path);
  return path;
}

/// Runs the finish functions of all ranks, each for the blocks that are there, and keeps the first failure.
void finish(runtime& rt, const std::vector<block_ptr>& blocks, const std::vector<std::uintptr_t>& programs,
            outcome& sum) {
  std::vector<future<detail::emulation_failure>> ends;
  for (const block_ptr& block : blocks) {
    ends.push_back(rt.call<&emulated_block::finish>(block, programs, sum.counts.end.count()));
  }
  for (auto& one : ends) {
    const detail::emulation_failure failure = one.get();
    if (failure.failed && (!sum.failure.failed || failure.node < sum.failure.node)) sum.failure = failure;
  }
}

/// The profile's file on rank 0; null on other ranks, and when none is asked for. `options.profile` says on every rank
/// whether there is one. Throws setup_error on all ranks when it cannot be opened.
std::unique_ptr<emulator::profile_output> open_profile(runtime& rt, emulation_options& options) {
  std::unique_ptr<emulator::profile_output> file;
  std::string problem;
  try {
    if (rt.rank().value() == 0 && !options.profile.empty()) {
      file = std::make_unique<emulator::profile_output>(options.profile);
    }
  } catch (const setup_error& error) {
    problem = error.what();
  }
  problem = rt.broadcast(problem, rank_id{0});
  options.profile = rt.broadcast(options.profile, rank_id{0});
  if (!problem.empty()) throw setup_error(problem);
  return file;
}

void write_profile(runtime& rt, const emulator::partition& cut, const std::vector<block_ptr>& blocks,
                   const emulated_machine& machine, const std::string& title, const emulator::profile_output& file,
                   outcome& outcome) {
  emulator::profile_head head{title, machine, outcome.counts, outcome.path};
  head.counts.bytes = 0;  // depends on the number of blocks
  emulator::profile_collection all(head);
  for (std::uint32_t block = 0; block < blocks.size(); ++block) {  // one after the other, as each may be large
    all.add(cut.brick_of(block), cut, rt.call<&emulated_block::profile>(blocks[block], all.shift()).get());
  }
  try {
    file.write(head, all.content());
  } catch (const setup_error& error) {
    outcome.profile_problem = error.what();
  }
}

}  // namespace

emulation emulate(runtime& rt, const emulated_machine& machine, const std::function<void(emulated_node&)>& start,
                  const emulation_options& asked) {
  check_machine(machine);
  emulation_options options = asked;
  const std::unique_ptr<emulator::profile_output> profile = open_profile(rt, options);
  emulator::all_must_be_numbered();
  const double began = rt.now();
  const emulator::partition cut(machine.grid, blocks_for(rt, machine, options));
  std::vector<block_ptr> own_blocks;
  const std::uint32_t rank = rt.rank().value();
  for (std::uint32_t block = 0; block < cut.blocks(); ++block) {
    // Each rank gets an equal run of neighbouring blocks.
    if (std::uint64_t{block} * rt.size() / cut.blocks() != rank) continue;
    own_blocks.push_back(rt.create<emulated_block>(machine, cut.blocks(), block, options));
  }
  std::vector<block_ptr> blocks;
  for (const auto& of_rank : rt.all_gather(own_blocks)) blocks.insert(blocks.end(), of_rank.begin(), of_rank.end());
  mobile_ptr<emulation_coordinator> coordinator;
  if (rank == 0) coordinator = rt.create<emulation_coordinator>(machine, blocks, options);
  coordinator = rt.broadcast(coordinator, rank_id{0});
  for (const block_ptr& block : own_blocks) {
    rt.send<&emulated_block::begin>(block, coordinator, blocks, reinterpret_cast<std::uintptr_t>(&start));
  }
  rt.wait_quiescence();
  const double seconds = rt.all_reduce(rt.now() - began, [](double a, double b) { return std::max(a, b); });
  outcome result;
  // A block may be at any rank by now: it is told where the function is on each.
  const auto programs = rt.all_gather(options.finish ? reinterpret_cast<std::uintptr_t>(&options.finish) : 0);
  const auto without = std::count(programs.begin(), programs.end(), std::uintptr_t{0});
  if (rank == 0) {
    result = collect(rt, blocks, coordinator);
    if (options.critical_path && !result.failure.failed) result.path = path_of(rt, cut, blocks);
    if (without == 0 && !result.failure.failed) finish(rt, blocks, programs, result);
    if (profile && !result.failure.failed) write_profile(rt, cut, blocks, machine, options.title, *profile, result);
  }
  result = rt.broadcast(result, rank_id{0});
  for (const block_ptr& block : own_blocks) rt.destroy(block);
  if (rank == 0) rt.destroy(coordinator);
  if (result.failure.failed) throw usage_error(result.failure.text);
  if (!result.profile_problem.empty()) throw setup_error(result.profile_problem);
  if (without != 0 && without != static_cast<std::ptrdiff_t>(rt.size())) {
    throw usage_error("some ranks gave emulate a finish function and others none: give it on all ranks or on none");
  }
  return emulation(result.counts, result.windows, seconds, std::move(result.path));
}

}  // namespace nacre
