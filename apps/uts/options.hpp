// SPDX-License-Identifier: Apache-2.0
// The command line of uts.
#pragma once

#include <optional>

#include "sha1.hpp"
#include "tree_params.hpp"

namespace uts {

/// What the user asked for.
struct options {
  tree_params tree;
  sha1_choice sha = sha1_choice::automatic;
  bool sequential = false;  ///< search in a plain loop of one thread
  bool list = false;        ///< print the table of named trees and do nothing else
  bool json = false;        ///< the result as one JSON object instead of text
  bool quiet = false;       ///< no progress line
};

/// A command line that was read.
struct command_line {
  options asked;
  /// Set when there is nothing to run: help was printed (0), or what is wrong and what to try (2, on standard error).
  std::optional<int> exit_code;
};

/// Reads the command line. The tree's parameters are those of the tree named by --tree, or the defaults of tree_params,
/// each replaced where its own option is given. Throws nacre::setup_error for a name that does not exist or parameters
/// that do not make a tree.
[[nodiscard]] command_line parse_command_line(int argc, const char* const* argv);

}  // namespace uts
