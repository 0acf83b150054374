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

namespace emulate {
namespace {

using nacre::coordinates;
using nacre::emulated_node;

constexpr double time_step = 0.01;
constexpr std::uint32_t steps_of_migration = 5;
/// Above that a sum over all pairs takes long.
constexpr std::uint64_t direct_atoms_max = 4096;

coordinates cell_at(const emulated_node& here, std::uint32_t direction) {
  const coordinates& at = here.at();
  const coordinates& grid = here.machine().grid;
  const auto wrapped = [](std::int32_t place, std::int32_t extent) { return (place + extent) % extent; };
  return {wrapped(at.x + along(direction, 0), grid.x), wrapped(at.y + along(direction, 1), grid.y),
          wrapped(at.z + along(direction, 2), grid.z)};
}

void advance(emulated_node& here);

void receive_atoms(emulated_node& here, atom_packet packet) {
  md_cell& cell = here.state<md_cell>();
  if (packet.round - cell.round > 1) throw std::logic_error("atoms of a round that this node does not wait for");
  inbox& box = cell.inboxes[packet.round % 2];
  box.take(packet);
  if (packet.round == cell.round && box.is_complete()) here.add_task<advance>();
}

void send_round(emulated_node& here, md_cell& cell) {
  const auto all = cell.packets_for_neighbours();
  for (std::uint32_t to = 0; to < directions; ++to) {
    if (to == middle) continue;
    for (const atom_packet& packet : all[to]) {
      here.send<receive_atoms>(nacre::emulated::communication, cell_at(here, to), packet);
    }
  }
  // What faster neighbours have sent may be all that this node waits for.
  if (cell.inboxes[cell.round % 2].is_complete()) here.add_task<advance>();
}

/// Ends a step with the forces at its end, and begins the next one. Returns whether there is one.
bool integrate(emulated_node& here, md_cell& cell, const std::vector<atom_packet>& around) {
  std::vector<vector3> forces;
  double potential = 0;
  const std::uint64_t pairs = cell.add_forces(around, forces, potential);
  here.charge(std::chrono::nanoseconds(cell.work_ns * static_cast<std::int64_t>(pairs)));
  if (cell.step != 0) cell.kick(forces, time_step / 2);
  if (cell.step == 0 && cell.keeps_forces) {
    for (std::size_t i = 0; i < forces.size(); ++i) cell.first_forces.push_back({cell.atoms[i].id, forces[i]});
  }
  const bool last = cell.step == cell.steps;
  if (cell.step % cell.sums_every == 0 || last) {
    contribute_to(here, (cell.step + cell.sums_every - 1) / cell.sums_every, 0, cell.sums(potential));
    cell.moved = 0;
  }
  if (last) return false;
  cell.kick(forces, time_step / 2);
  cell.drift(time_step);
  ++cell.step;
  cell.migrates = cell.step % steps_of_migration == 0;
  return true;
}

/// All packets of the round are here.
void advance(emulated_node& here) {
  md_cell& cell = here.state<md_cell>();
  const std::vector<atom_packet> packets = cell.inboxes[cell.round % 2].release();
  if (cell.migrates) {
    cell.take_whole(packets);
    cell.migrates = false;
  } else if (!integrate(here, cell, packets)) {
    return;
  }
  ++cell.round;
  send_round(here, cell);
}

void start_md(emulated_node& here, const program_parameters& with) {
  md_cell& cell = here.state<md_cell>();
  cell.atoms = first_atoms(here.at(), here.machine().grid);
  cell.steps = with.steps;
  cell.sums_every = std::max(1u, with.steps / 20);
  cell.work_ns = with.work.count();
  cell.keeps_forces = here.machine().nodes() * atoms_of_cell <= direct_atoms_max;
  send_round(here, cell);
}

/// What the nodes of one rank hold at the end.
struct findings {
  std::mutex mutex;
  std::vector<atom_sums> sums;  ///< where the root of the tree is
  std::vector<force_on> first_forces;
  std::uint64_t atoms = 0;
  std::uint64_t digest = 0;

  void take(emulated_node& here) {
    const md_cell& cell = here.state<md_cell>();
    std::uint64_t sum = 0;
    const auto node = static_cast<std::uint64_t>(here.at().x) << 42 ^ static_cast<std::uint64_t>(here.at().y) << 21 ^
                      static_cast<std::uint64_t>(here.at().z);
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
    if (tree_place(here).is_root()) sums = here.state<tree_reduction<atom_sums>>().results;
  }
};

template <class T>
std::vector<T> gathered(nacre::runtime& rt, const std::vector<T>& own) {
  std::vector<T> all;
  for (const auto& of_rank : rt.all_gather(own)) all.insert(all.end(), of_rank.begin(), of_rank.end());
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

program_result run_md(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters& with,
                      const nacre::emulation_options& how) {
  findings found;
  nacre::emulation_options options = how;
  options.finish = [&](emulated_node& here) { found.take(here); };
  program_result result{nacre::emulate(
      rt, machine, [&](emulated_node& here) { start_md(here, with); }, options)};
  const std::vector<atom_sums> sums = gathered(rt, found.sums);
  const std::vector<force_on> forces = gathered(rt, found.first_forces);
  const std::uint64_t atoms = rt.all_reduce(found.atoms, std::plus<>{});
  result.digest = rt.all_reduce(found.digest, std::plus<>{});
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
