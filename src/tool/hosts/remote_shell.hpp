// SPDX-License-Identifier: Apache-2.0
// The command that starts an agent on another host, and the explanation of its failures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool/supervisor.hpp"

namespace nacre::tool {

/// The default of --ssh: ssh without a terminal, without questions, and with a time limit for the connection.
inline constexpr const char* default_shell = "ssh -T -x -o BatchMode=yes -o ConnectTimeout=10";

/// Splits a command line as a shell does: at blanks that are not quoted or escaped. Throws setup_error for an open
/// quote or an empty line.
[[nodiscard]] std::vector<std::string> split_words(std::string_view line);

/// The command that starts an agent: the shell, the host, and one word that the host's shell runs: `nacre host-agent`.
[[nodiscard]] std::vector<std::string> agent_command(const std::vector<std::string>& shell, const std::string& host,
                                                     const std::string& nacre);

/// A failed start of an agent.
struct failed_start {
  std::string host;
  std::vector<std::string> command;  ///< the command that was run
  std::string nacre;                 ///< the path of nacre on that host
  ending outcome;
  std::string said;  ///< its standard error
};

/// One line for the user: the host, the failure and a remedy.
[[nodiscard]] std::string explain(const failed_start& failed_start);

}  // namespace nacre::tool
