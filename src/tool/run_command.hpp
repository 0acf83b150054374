// SPDX-License-Identifier: Apache-2.0
// `nacre run`: its options and their meaning.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tool/hosts/remote_shell.hpp"

namespace nacre::tool {

/// The arguments as text. run parses and checks them itself, so that all error messages have one form.
struct run_arguments {
  std::string ranks;
  std::string transport;  // empty: by the number of hosts
  std::string config;
  bool label = false;
  std::string hosts;
  std::string host_file;
  std::string distribution = "block";
  std::string shell = default_shell;
  std::string nacre;
  std::string address;
  std::string host_timeout;  // seconds
  std::string folder;        // of the ranks; empty: the current one
  std::string survive;
  std::string restarts;
  std::string restore;
  std::vector<std::string> variables;
  std::vector<std::string> program;
};

/// Adds the command to `app`. Parsing writes the options to `given`, which must outlive it.
[[nodiscard]] CLI::App* add_run(CLI::App& app, run_arguments& given);

/// Runs the job. Returns the exit code for the process; throws setup_error when the job cannot begin.
[[nodiscard]] int run(const CLI::App& command, const run_arguments& given);

}  // namespace nacre::tool
