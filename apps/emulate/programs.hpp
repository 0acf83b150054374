// SPDX-License-Identifier: Apache-2.0
// The programs that `emulate` runs on an emulated machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/emulator.hpp>

namespace emulate {

/// The parameters of a program beside the machine. Each program reads those that concern it.
struct program_parameters {
  std::uint32_t rounds = 10;                ///< ring: how often each message goes on
  std::uint32_t population = 1;             ///< phold: events of each node at the start
  double remote = 0.1;                      ///< phold: share of events for another node
  std::chrono::nanoseconds mean{1'000};     ///< phold: mean of the exponential increments
  std::chrono::nanoseconds until{100'000};  ///< phold: events from then on cause no others
  std::uint64_t seed = 1;                   ///< phold: another seed, another run
  std::uint32_t cells = 4;                  ///< jacobi: cells along each side of a node's cube
  std::uint32_t steps = 10;                 ///< jacobi: sweeps; md: time steps
  std::uint32_t pieces = 8;                 ///< md: handlers in which a node computes its forces
  std::chrono::nanoseconds work{50};        ///< jacobi: cost of a cell's update; md: of a pair of atoms
};

/// A finished program: what the emulator says, and what the program finds wrong.
struct program_result {
  nacre::emulation run;
  std::string error{};       ///< empty when the program's own check holds
  std::uint64_t digest = 0;  ///< of the computed values, to the last bit; 0: the program computes none
  std::vector<std::pair<std::string, double>> figures{};  ///< what the program has computed, by name
};

using run_program = std::function<program_result(nacre::runtime&, const nacre::emulated_machine&,
                                                 const program_parameters&, const nacre::emulation_options&)>;

/// A row of the table of programs.
struct program {
  std::string_view name;
  std::string_view description;
  run_program run;
};
[[nodiscard]] const std::vector<program>& programs();

// One function for each program; see their files. All ranks call it.
program_result run_line(nacre::runtime& rt, const nacre::emulated_machine& machine,
                        const program_parameters& parameters, const nacre::emulation_options& options);
program_result run_octree(nacre::runtime& rt, const nacre::emulated_machine& machine,
                          const program_parameters& parameters, const nacre::emulation_options& options);
program_result run_reduce(nacre::runtime& rt, const nacre::emulated_machine& machine,
                          const program_parameters& parameters, const nacre::emulation_options& options);
program_result run_ring(nacre::runtime& rt, const nacre::emulated_machine& machine,
                        const program_parameters& parameters, const nacre::emulation_options& options);
program_result run_phold(nacre::runtime& rt, const nacre::emulated_machine& machine,
                         const program_parameters& parameters, const nacre::emulation_options& options);
program_result run_jacobi(nacre::runtime& rt, const nacre::emulated_machine& machine,
                          const program_parameters& parameters, const nacre::emulation_options& options);
program_result run_md(nacre::runtime& rt, const nacre::emulated_machine& machine, const program_parameters& parameters,
                      const nacre::emulation_options& options);

}  // namespace emulate
