// SPDX-License-Identifier: Apache-2.0
// Programs of a test on two hosts that are made of namespaces (tools/hosts_here.sh). Exit code 77: there are none here.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "launched.hpp"

namespace nacre::tests {

/// Two ranks on each host; `script` runs it as "$@", in the network of the first host.
inline outcome on_two_hosts(const std::string& script, std::vector<std::string> program) {
  // What UCX thinks of its connections goes to standard output.
  ::setenv("UCX_LOG_LEVEL", "info", 1);
  std::vector<std::string> command{NACRE_SOURCE_DIR "/tools/hosts_here.sh", "sh", "-c",
                                   "run() { " NACRE_BIN_DIR
                                   "/nacre run --hosts a:2,b:2 --ssh \"$HOSTS_SHELL\" --address 198.51.100.1 "
                                   "-x ASAN_OPTIONS -x UCX_LOG_LEVEL \"$@\"; }; " +
                                       script,
                                   "sh"};
  command.insert(command.end(), program.begin(), program.end());
  return launched(command).end();
}

/// A rank program of the running test.
inline std::vector<std::string> own_program(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> result{own_path(), "--as-rank", name, "--nacre.workers=1"};
  result.insert(result.end(), arguments.begin(), arguments.end());
  return result;
}

}  // namespace nacre::tests
