// SPDX-License-Identifier: Apache-2.0
// Whether a machine can be emulated: its members are within their bounds, and it has a lookahead.
#include <nacre/emulated_machine.hpp>

#include <string>

#include <nacre/error.hpp>
#include "emulator/node_loop.hpp"
#include "machine/machine_bounds.hpp"
#include "machine/machine_file.hpp"

namespace nacre {

void check_machine(const emulated_machine& machine) {
  machine::check_members(machine, {.subject = "emulated machine", .reason = "it cannot be emulated"});
  static_cast<void>(detail::node_loop::window_width(machine));
}

emulated_machine emulated_machine::from_file(const std::string& path) {
  emulated_machine read = machine::read_machine_file(path);
  try {
    check_machine(read);
  } catch (const setup_error& error) {
    throw setup_error(path + ": " + error.what());
  }
  return read;
}

}  // namespace nacre
