// SPDX-License-Identifier: Apache-2.0
// The messages between the launcher and its agent on a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "join/launch/message_stream.hpp"
#include "tool/supervisor.hpp"

namespace nacre::tool {

/// The orders of an agent. They come through its standard input, so a list of processes shows nothing of them.
struct host_launch_spec {
  std::string host;                    ///< as the user names it
  std::uint32_t index = 0;             ///< of this host
  std::uint32_t hosts = 0;             ///< of the job
  std::string launcher;                ///< address where the launcher listens for agents
  std::string agent_secret;            ///< proves an agent to the launcher
  std::string control_address;         ///< address where the launcher listens for ranks
  std::string job_secret;              ///< proves a rank to the launcher and to its peers
  std::uint32_t size = 0;              ///< ranks of the job
  std::vector<std::uint32_t> ranks;    ///< of this host
  std::string folder;                  ///< to run in
  std::vector<std::string> arguments;  ///< the program first
  std::vector<std::string> variables;  ///< "NAME=value", in addition to the host's own
};

/// Packs the version of Nacre, then the host_launch_spec.
[[nodiscard]] std::vector<std::byte> pack_host_spec(const host_launch_spec& host_spec);
/// Throws setup_error when the bytes are no host_launch_spec, or come from another version of Nacre.
[[nodiscard]] host_launch_spec unpack_host_spec(std::span<const std::byte> bytes);

/// Agent to launcher, its first message: the program, which it can start.
struct host_ready {
  std::string program;
  std::uint64_t fingerprint = 0;
};
/// Launcher to every agent, when all are ready: start the ranks.
struct start_ranks {};
/// Agent to launcher: output of a rank. At most output_window bytes may be unacknowledged.
struct rank_output {
  std::uint32_t rank = 0;
  bool to_error = false;
  std::string text;
};
/// Launcher to agent: acknowledges bytes of output, so that the agent may send as many more.
struct output_taken {
  std::uint32_t bytes = 0;
};
/// Launcher to agent: standard output has no reader any more.
struct output_closed {};
/// Launcher to the agent of rank 0: standard input; an empty text at its end.
struct input_text {
  std::string text;
};
/// Agent to launcher: rank 0 has the last input_text; `more`: it takes another one.
struct input_taken {
  bool more = false;
};
/// Launcher to agent: a signal for the POSIX process group of each rank.
struct signal_ranks {
  std::int32_t number = 0;
};
/// Launcher to agent: from now on, all processes that a rank has started are killed when the rank ends.
struct job_ends {};
/// Agent to launcher: a rank's process has ended.
struct rank_ended {
  std::uint32_t rank = 0;
  ending outcome;
};
/// Agent to launcher: the host cannot take part (any longer). `problem` is one line with a remedy.
struct host_failed {
  std::string problem;
};
/// Agent to launcher, its last message: its ranks have ended, and all their output has been sent.
struct host_done {};

using host_message = std::variant<host_ready, start_ranks, rank_output, output_taken, output_closed, input_text,
                                  input_taken, signal_ranks, job_ends, rank_ended, host_failed, host_done>;

/// Send window of an agent for output, in bytes not yet acknowledged. So a launcher with blocked output holds a
/// bounded amount for each host, and other messages still pass.
inline constexpr std::size_t output_window = 256 * 1024;

using host_stream = launch::message_stream<host_message>;

}  // namespace nacre::tool

namespace nacre {
extern template class launch::message_stream<tool::host_message>;
}
