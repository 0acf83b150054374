// SPDX-License-Identifier: Apache-2.0
// The simulated network on which messages take as long as was measured.
#pragma once

#include <cstddef>
#include <vector>

#include <nacre/config.hpp>

#include "calibration/cost_table.hpp"
#include "calibration/sample.hpp"

namespace nacre::calibration {

/// Ranks in processes of their own pay the rows sim.latency and so on; ranks of one process pay sim.local_latency and
/// so on. So a host of the simulator stands for a process.
enum class rank_place { own_process, same_process };

/// Messages of mobile objects between the first and the last rank of a job, by size: round trips and streams. On rank 0
/// the result, elsewhere nothing. Times are those of the job's clock, virtual or real. Throws std::runtime_error when
/// the job fails.
[[nodiscard]] std::vector<sample> measure_messages(const config& job, const std::vector<std::size_t>& sizes);

/// Returns these times for two simulated ranks on a machine that `rows` alone describes.
[[nodiscard]] std::vector<sample> predict_messages(const cost_rows& rows, rank_place place,
                                                   const std::vector<std::size_t>& sizes);

/// The rows of the network between such ranks, given measured messages in at least two sizes and the rows of the
/// runtime's own costs:
/// - latency: from the round trip of the smallest message, without what the runtime takes.
/// - gap: from the rate of the smallest messages; 0 if the runtime is slower than the network.
/// - bandwidth: from how much longer the largest messages take than the smallest ones.
/// Overheads are 0, because they are in the runtime's own costs.
[[nodiscard]] cost_rows fit_link(const std::vector<sample>& measured, rank_place place, const cost_rows& runtime);

}  // namespace nacre::calibration
