// SPDX-License-Identifier: Apache-2.0
// Whether a mesh fits into the memory of the hosts that are to make it.
#pragma once

#include <string>

#include <nacre/nacre.hpp>

namespace meshing {

/// Bytes that this process may still take: what the system calls available, but no more than limits of its control
/// group leave; infinite where the system does not tell. `root` is the folder in which `proc` and `sys` are.
[[nodiscard]] double available_bytes(const std::string& root = "/");

/// The sum over the hosts of all ranks, on rank 0. Collective. In a simulation, which sends no message that could
/// differ from run to run, the memory of this host.
[[nodiscard]] double memory_of_job(nacre::runtime& rt, bool is_simulated);

struct memory_demand {
  double elements = 0, bytes_each = 0, memory_bytes = 0;
  std::string place{}, name{}, remedy{};  // for the message
};

/// Throws nacre::setup_error when elements take more than there is.
void demand_memory(const memory_demand& demand);

}  // namespace meshing
