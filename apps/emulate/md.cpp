// SPDX-License-Identifier: Apache-2.0
// The molecular dynamics of the emulator paper: electrostatics within a cut-off, integrated by velocity Verlet, in a
// periodic box. Each node owns a cell; atoms that leave it move on to other nodes.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "md_cell.hpp"
#include "programs.hpp"
#include "tree_reduction.hpp"
#include "work_charge.hpp"

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;

constexpr double time_step = 0.01;
constexpr std::uint32_t steps_of_migration = 5;
/// Above that a sum over all pairs takes long.
constexpr std::uint64_t direct_atoms_max = 4096;

coordinates cell_at(const emulated_node& node, const coordinates& position, std::uint32_t direction) {
  const coordinates& grid = node.machine().grid;
  const auto wrapped = [](std::int32_t place, std::int32_t extent) { return (place + extent) % extent; };
  return {wrapped(position.x + along(direction, 0), grid.x), wrapped(position.y + along(direction, 1), grid.y),
          wrapped(position.z + along(direction, 2), grid.z)};
}

void advance(emulated_node& node, std::uint32_t part);

void receive_atoms(emulated_node& node, atom_packet packet) {
  const std::uint32_t part = packet.take_address();
  md_cell& cell = node.state<parts_of<md_cell>>()[part];
  if (packet.round - cell.round > 1) throw std::logic_error("atoms of a round that this node does not wait for");
  inbox& box = cell.inboxes[packet.round % 2];
  box.take(packet);
  if (packet.round == cell.round && box.is_complete()) node.add_task<advance>(part);
}

void send_round(emulated_node& node, std::uint32_t part, md_cell& cell) {
  auto all = cell.packets_for_neighbours();
  const coordinates position = place_of_part(node, part);
  for (std::uint32_t target = 0; target < directions; ++target) {
    if (target == middle) continue;
    const work_place place = work_place_of(node, cell_at(node, position, target));
    for (atom_packet& packet : all[target]) {
      packet.address(place.part);
      node.send<receive_atoms>(nacre::emulated::communication, place.node, packet);
    }
  }
  // What faster neighbours have sent may be all that this node waits for.
  if (cell.inboxes[cell.round % 2].is_complete()) node.add_task<advance>(part);
}

/// Ends a step with the forces at its end, and begins the next one. Returns whether there is one.
bool integrate(emulated_node& node, std::uint32_t part, md_cell& cell) {
  const std::vector<vector3>& forces = cell.forces;
  if (cell.step != 0) cell.kick(time_step / 2);
  if (cell.step == 0 && cell.keeps_forces) {
    for (std::size_t i = 0; i < forces.size(); ++i) cell.first_forces.push_back({cell.atoms[i].id, forces[i]});
  }
  const bool last = cell.step == cell.steps;
  if (cell.step % cell.sums_every == 0 || last) {
    contribute_to(node, part, (cell.step + cell.sums_every - 1) / cell.sums_every, 0, cell.sums());
    cell.moved = 0;
  }
  if (last) return false;
  cell.kick(time_step / 2);
  cell.drift(time_step);
  ++cell.step;
  cell.migrates = cell.step % steps_of_migration == 0;
  return true;
}

/// The forces on the atoms are known.
void complete_step(emulated_node& node, std::uint32_t part) {
  md_cell& cell = node.state<parts_of<md_cell>>()[part];
  if (!integrate(node, part, cell)) return;
  ++cell.round;
  send_round(node, part, cell);
}

void add_piece(emulated_node& node, md_cell& cell, std::uint32_t piece) {
  const std::uint64_t pairs = cell.add_forces(piece);
  charge_work(node, cell.work_ns, pairs);
}

/// Computes the forces on a piece of the atoms. The piece that begins last sees to it that the step is completed when
/// all of them have ended; all have the same constant cost besides their charges.
void compute_piece(emulated_node& node, std::uint32_t part, std::uint32_t piece) {
  md_cell& cell = node.state<parts_of<md_cell>>()[part];
  add_piece(node, cell, piece);
  cell.pieces_end_ns = std::max(cell.pieces_end_ns, node.now().count());
  if (--cell.pieces_left != 0) return;
  node.after<complete_step>(std::chrono::nanoseconds(cell.pieces_end_ns) - node.now(), part);
}

/// All packets of the round are here.
void advance(emulated_node& node, std::uint32_t part) {
  md_cell& cell = node.state<parts_of<md_cell>>()[part];
  cell.neighbours = cell.inboxes[cell.round % 2].release();
  if (cell.migrates) {
    cell.take_whole(cell.neighbours);
    cell.migrates = false;
    ++cell.round;
    return send_round(node, part, cell);
  }
  cell.begin_forces();
  if (cell.pieces == 1) {
    add_piece(node, cell, 0);
    return complete_step(node, part);
  }
  cell.pieces_left = cell.pieces;
  cell.pieces_end_ns = 0;
  for (std::uint32_t piece = 0; piece < cell.pieces; ++piece) node.add_task<compute_piece>(part, piece);
}

void start_cell(emulated_node& node, std::uint32_t part, const coordinates& place,
                const program_parameters& parameters) {
  md_cell& cell = node.state<parts_of<md_cell>>()[part];
  cell.atoms = first_atoms(place, node.machine().grid);
  cell.steps = parameters.steps;
  cell.sums_every = std::max(1u, parameters.steps / 20);
  cell.work_ns = parameters.work.count();
  cell.pieces =
      std::max(1U, std::min(parameters.pieces, node.machine().threads - node.machine().communication_threads));
  cell.keeps_forces = node.machine().nodes() * atoms_of_cell <= direct_atoms_max;
  send_round(node, part, cell);
}

void start_md(emulated_node& node, const program_parameters& parameters) {
  for_each_part(node, [&](std::uint32_t part, const coordinates& place) { start_cell(node, part, place, parameters); });
}

/// What the nodes of one rank hold at the end.
struct findings {
  std::mutex mutex;
  std::vector<atom_sums> sums;  ///< where the root of the tree is
  std::vector<force_on> first_forces;
  std::uint64_t atoms = 0;
  std::uint64_t digest = 0;

  void take(emulated_node& emulated_node, std::uint32_t part, const coordinates& place) {
    const md_cell& cell = emulated_node.state<parts_of<md_cell>>()[part];
    std::uint64_t sum = 0;
    const auto node = static_cast<std::uint64_t>(place.x) << 42 ^ static_cast<std::uint64_t>(place.y) << 21 ^
                      static_cast<std::uint64_t>(place.z);
    for (const atom& one : cell.atoms) {
      std::uint64_t hash = mixed(one.id, node);
      for (const double x : one.position) hash = mixed(hash, std::bit_cast<std::uint64_t>(x));
      for (const double v : one.velocity) hash = mixed(hash, std::bit_cast<std::uint64_t>(v));
      sum += hash;
    }
    const std::lock_guard lock(mutex);
    digest += sum;
    atoms += cell.atoms.size();
    first_forces.insert(first_forces.end(), cell.first_forces.begin(), cell.first_forces.end());
    if (tree_place(emulated_node, place).is_root())
      sums = emulated_node.state<parts_of<tree_reduction<atom_sums>>>()[part].results;
  }
};

template <class T>
std::vector<T> gathered(nacre::runtime& rt, const std::vector<T>& values) {
  std::vector<T> all;
  for (const auto& of_rank : rt.all_gather(values)) all.insert(all.end(), of_rank.begin(), of_rank.end());
  return all;
}

/// The largest difference of the forces and those of a direct sum, in parts of the largest force.
double force_error(std::vector<force_on> forces, const std::vector<force_on>& direct) {
  std::sort(forces.begin(), forces.end(), [](const force_on& a, const force_on& b) { return a.id < b.id; });
  if (forces.size() != direct.size()) return 1;
  double difference = 0, most = 0;
  for (std::size_t i = 0; i < forces.size(); ++i) {
    if (forces[i].id != direct[i].id) return 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      difference = std::max(difference, std::fabs(forces[i].force[axis] - direct[i].force[axis]));
      most = std::max(most, std::fabs(direct[i].force[axis]));
    }
  }
  return difference / most;
}

void check_sums(const std::vector<atom_sums>& sums, std::uint64_t atoms, program_result& result) {
  constexpr double drift_max = 1e-4, momentum_of_atom_max = 1e-12;
  if (sums.empty()) {
    result.error = "the sums over all atoms are missing";
    return;
  }
  const double first = sums[0].kinetic + sums[0].potential;
  double drift = 0, momentum = 0, moved = 0;
  for (const atom_sums& one : sums) {
    drift = std::max(drift, std::fabs((one.kinetic + one.potential - first) / first));
    for (const double p : one.momentum) momentum = std::max(momentum, std::fabs(p));
    moved += static_cast<double>(one.moved);
  }
  const auto count = static_cast<double>(atoms);
  result.figures = {{"atoms", count},        {"energy of an atom", first / count},
                    {"energy drift", drift}, {"temperature", 2 * sums.back().kinetic / (3 * count)},
                    {"momentum", momentum},  {"atoms that moved", moved}};
  // A comparison that is false for a value that is no number.
  if (!(drift <= drift_max)) result.error = fmt::format("the energy drifts by {:.3g} of itself", drift);
  if (!(momentum <= momentum_of_atom_max * count))
    result.error = fmt::format("the momentum is {:.3g}, not 0", momentum);
}

}  // namespace

program_result run_md(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters& parameters,
                      const nacre::emulation_options& emulation_options) {
  findings findings;
  nacre::emulation_options options = emulation_options;
  options.finish = [&](emulated_node& node) {
    for_each_part(node, [&](std::uint32_t part, const coordinates& place) { findings.take(node, part, place); });
  };
  program_result result{nacre::emulate(
      rt, machine, [&](emulated_node& node) { start_md(node, parameters); }, options)};
  const std::vector<atom_sums> sums = gathered(rt, findings.sums);
  const std::vector<force_on> forces = gathered(rt, findings.first_forces);
  const std::uint64_t atoms = rt.all_reduce(findings.atoms, std::plus<>{});
  result.digest = rt.all_reduce(findings.digest, std::plus<>{});
  check_sums(sums, atoms, result);
  const std::uint64_t expected = machine.nodes() * atoms_of_cell;
  if (atoms != expected) result.error = fmt::format("{} atoms are left of {}", atoms, expected);
  if (expected > direct_atoms_max || rt.rank().value() != 0) return result;
  constexpr double force_error_max = 1e-11;
  const double error = force_error(forces, direct_forces(machine.grid));
  result.figures.emplace_back("force error", error);
  if (!(error <= force_error_max)) result.error = fmt::format("the first forces differ by {:.3g} from a sum", error);
  return result;
}

}  // namespace emulate
