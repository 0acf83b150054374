// SPDX-License-Identifier: Apache-2.0
// The command that starts an agent on another host, and what its failures mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool/supervisor.hpp"

namespace nacre::tool {

/// What is used without --ssh: no terminal, no questions, and an end to the waiting.
inline constexpr const char* default_shell = "ssh -T -x -o BatchMode=yes -o ConnectTimeout=10";

/// Splits a command line as a shell does: blanks divide; quotes and backslashes keep. Throws setup_error for an open
/// quote, or when nothing is there.
[[nodiscard]] std::vector<std::string> split_words(std::string_view line);

/// The command for that host: the shell, the host, and one word for the other side that starts `nacre host-agent`.
[[nodiscard]] std::vector<std::string> agent_command(const std::vector<std::string>& shell, const std::string& host,
                                                     const std::string& nacre);

/// A start of an agent that came to nothing.
struct failed_start {
  std::string host;
  std::vector<std::string> command;  ///< what was run
  std::string nacre;                 ///< the path of nacre on that host
  ending how;
  std::string said;  ///< its standard error
};

/// The one line for a person: which host, what happened, what to try.
[[nodiscard]] std::string explain(const failed_start& what);

}  // namespace nacre::tool
