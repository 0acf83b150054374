// SPDX-License-Identifier: Apache-2.0
// The command `nacre`.
#include "tool/command_line.hpp"

int main(int argc, char** argv) { return nacre::tool::run_command_line(argc, argv); }
