// SPDX-License-Identifier: Apache-2.0
// What is measured, and what comes of it: several senders, one receiver, one link between the switch and it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nacre/flow_control.hpp>

#include "backplane/flow/flow_message.hpp"
#include "machine/cell_port.hpp"

namespace incast {

/// How senders are kept from overrunning the link; tcp leaves it to the kernel.
enum class coordination : std::uint8_t { none, token, credit, slot, automatic, tcp };

constexpr std::size_t star_senders_max = 64;
constexpr std::size_t offered_ahead = 8;  ///< messages that a sender has offered and not transmitted yet

struct plan {
  std::uint32_t senders = 3;
  std::uint64_t bytes = 10240;  ///< of a message
  coordination scheme = coordination::token;
  double bits_per_second = 200e6;      ///< of each link
  std::uint64_t buffer_bytes = 32768;  ///< of each port of the switch; in the simulation buffer_cells counts
  std::uint64_t burst_bytes = 0;       ///< that a link of the star makes up for after a late timer; 0: 400 us of it
  double early_us = 100;               ///< before the end of its use a token is passed on
  double patience_us = 2000;
  std::optional<std::uint32_t> flow_small_bytes{};  ///< messages up to that size leave at once; see small_bytes_of
  double seconds = 1;                               ///< of sending
  bool rounds = false;  ///< all senders send one message at once, and again when all have come
  bool busy_receiver = false;
  // Of the simulation:
  std::uint64_t buffer_cells = 256;
  nacre::machine::cell_discard discard = nacre::machine::cell_discard::tail;
  std::uint64_t threshold_cells = 128;      ///< of early packet discard
  std::uint64_t flow_buffer_bytes = 12288;  ///< of the port, that senders count on
  /// Microseconds of the sending host and its adapter for each message, beside its cells. The DVCM paper has 60 us
  /// between applications and 18 us between adapters (section 3); half of the difference is the sending side's.
  double message_cost_us = 21;
  double latency_us = 18;  ///< of a control message
  double jitter = 0.02;    ///< random part of a latency
  std::uint64_t seed = 1;
};

struct outcome {
  double goodput_fraction = 0;  ///< bytes of complete messages, of what the link could carry
  std::uint64_t drops = 0;      ///< of the switch, packets or cells
  double fairness = 0;          ///< Jain's index of the bytes of the senders
  double token_us = 0;          ///< what a token takes from holder to holder
  std::uint64_t messages = 0;   ///< that came whole
  double round_ratio = 0;       ///< rounds only: median of their length, of the ideal
  double round_p99_ms = 0;
  std::uint64_t retries = 0;  ///< requests and demands without an answer in time
  double bits_per_second = 0;
};

/// Jain's index: 1 when all are equal, 1/n when one has everything.
[[nodiscard]] inline double jain(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double each : shares) {
    sum += each;
    squares += each * each;
  }
  return squares == 0 ? 0 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

[[nodiscard]] inline nacre::flow_policy policy_of(coordination coordination) {
  switch (coordination) {
    case coordination::token:
      return nacre::flow_policy::token;
    case coordination::credit:
      return nacre::flow_policy::credit;
    case coordination::slot:
      return nacre::flow_policy::slot;
    case coordination::automatic:
      return nacre::flow_policy::automatic;
    default:
      return nacre::flow_policy::none;
  }
}

/// The sizes that no policy coordinates: under `auto` those of a rank by default, under others none if not set.
[[nodiscard]] inline std::uint64_t small_bytes_of(const plan& plan) {
  const bool is_automatic = plan.scheme == coordination::automatic;
  return plan.flow_small_bytes.value_or(is_automatic ? nacre::flow::link_settings{}.small_bytes : 0);
}

/// In virtual time, over a simulated switch of cells.
[[nodiscard]] outcome simulate(const plan& plan);
/// In the star of network namespaces that this process runs in.
[[nodiscard]] outcome measure_star(const plan& plan);

}  // namespace incast
