// SPDX-License-Identifier: Apache-2.0
// What the launcher and its agent on a host say to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nacre/expected.hpp>

#include "tool/supervisor.hpp"
#include "transport/launch/piece_stream.hpp"

namespace nacre::tool {

/// All that an agent needs, through its standard input: nothing of it can be seen in a list of processes.
struct host_ticket {
  std::string host;                    ///< as the user names it
  std::uint32_t index = 0;             ///< of this host
  std::uint32_t hosts = 0;             ///< of the job
  std::string launcher;                ///< where the launcher listens for agents
  std::string agent_secret;            ///< proves an agent to the launcher
  std::string rendezvous;              ///< where the launcher listens for ranks
  std::string job_secret;              ///< proves a rank to the launcher and to its peers
  std::uint32_t size = 0;              ///< ranks of the job
  std::vector<std::uint32_t> ranks;    ///< of this host
  std::string folder;                  ///< to run in
  std::vector<std::string> arguments;  ///< the program first
  std::vector<std::string> variables;  ///< "NAME=value", in addition to the host's own
};

/// The ticket behind the version of Nacre that wrote it.
[[nodiscard]] std::vector<std::byte> pack_ticket(const host_ticket& ticket);
/// Throws setup_error when the bytes are no ticket, or one of another version.
[[nodiscard]] host_ticket unpack_ticket(std::span<const std::byte> bytes);

/// Agent to launcher, first: it could start the program, which is this one.
struct host_ready {
  std::string program;
  std::uint64_t fingerprint = 0;
};
/// Launcher to every agent, when all are ready: start the ranks.
struct start_ranks {};
/// Agent to launcher: what a rank has written, at most output_window bytes of which are not acknowledged.
struct rank_output {
  std::uint32_t rank = 0;
  bool to_error = false;
  std::string text;
};
/// Launcher to agent: so much more output may come.
struct output_taken {
  std::uint32_t bytes = 0;
};
/// Launcher to agent: nobody reads standard output any more.
struct output_closed {};
/// Launcher to the agent of rank 0: standard input; nothing at its end.
struct input_text {
  std::string text;
};
/// Agent to launcher: the last input_text is read, and whether another one is wanted.
struct input_taken {
  bool more = false;
};
/// Launcher to agent: for the process group of each rank.
struct signal_ranks {
  std::int32_t number = 0;
};
/// Launcher to agent: whatever a rank has started ends with it from now on.
struct job_ends {};
/// Agent to launcher: a rank's process has ended.
struct rank_ended {
  std::uint32_t rank = 0;
  ending how;
};
/// Agent to launcher: the host cannot take part, or not any longer. One line that says what to try.
struct host_trouble {
  std::string problem;
};
/// Agent to launcher, last: its ranks have ended, and all that they have written has been sent.
struct host_done {};

using host_message = std::variant<host_ready, start_ranks, rank_output, output_taken, output_closed, input_text,
                                  input_taken, signal_ranks, job_ends, rank_ended, host_trouble, host_done>;

/// Output that an agent may have sent ahead of its acknowledgement, so that a launcher whose own output is blocked
/// holds a bounded amount for each host, while its orders still pass.
inline constexpr std::size_t output_window = 256 * 1024;

/// The connection between a launcher and an agent as messages, in both directions. No I/O. One thread.
class host_stream : public transport::launch::piece_stream {
 public:
  void push(const host_message& m);
  /// The next message that is complete; nothing while there is none; a clause when the bytes are no message.
  [[nodiscard]] expected<std::optional<host_message>, std::string_view> pop();
};

}  // namespace nacre::tool
