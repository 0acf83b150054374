// SPDX-License-Identifier: Apache-2.0
// The command line of uts.
#pragma once

#include <cstdint>
#include <optional>

#include "node_cost.hpp"
#include "search.hpp"
#include "sha1.hpp"
#include "tree_params.hpp"

namespace uts {

/// How a search is spread over ranks: mobile objects that split and move, or messages between ranks as in the paper.
enum class search_mode { objects, steal, share };

/// What the user asked for.
struct options {
  tree_params tree;
  sha1_choice sha = sha1_choice::automatic;
  search_mode mode = search_mode::objects;
  std::optional<std::uint32_t> chunk;         ///< of steal and share, as in rank_search_options; empty adapts itself
  std::optional<std::uint32_t> interval;      ///< likewise
  std::uint32_t near = 0;                     ///< of steal, as near_first::requests
  node_cost cost{.seconds = seconds_a_node};  ///< where time is simulated
  bool sequential = false;                    ///< search in a plain loop of one thread
  bool list = false;                          ///< print the table of named trees and do nothing else
  bool json = false;                          ///< the result as one JSON object instead of text
  bool quiet = false;                         ///< no progress line
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
