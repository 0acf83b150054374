// SPDX-License-Identifier: Apache-2.0
// Defaults of the options that bound memory, lowered where the control groups of the process leave less.
#pragma once

#include <cstdint>
#include <string>

#include <nacre/config.hpp>

namespace nacre {

/// The memory that the control groups of a process leave to the ranks on its host together.
struct memory_share {
  std::uint64_t bytes = 0;
  std::uint32_t ranks = 1;  ///< of the job on this host
};

/// Lowers the defaults of send_memory, spare_memory and trace_memory, so that those of all ranks of the host take a
/// small part of the memory. No effect on options that anybody has set.
void lower_own_memory(config& configuration, const memory_share& share);
/// Lowers the default of receive_memory likewise, for which all ranks of the job must have one value.
void lower_receive_memory(config& configuration, const memory_share& share);

/// `nacre run` hands receive_memory to its ranks, wherever they run, as a variable of their environment: "NAME=value"
/// for the ranks of the host that has the most.
[[nodiscard]] std::string receive_memory_variable(const memory_share& share);
/// Takes the value of that variable. No effect without one, and on an option that anybody has set.
void take_receive_memory(config& configuration);

}  // namespace nacre
