// SPDX-License-Identifier: Apache-2.0
// Finds the module of the MPI that is meant, and loads it into the process.
#pragma once

#include <string>

#include "transport/mpi/flavour.hpp"
#include "transport/mpi/module.hpp"

namespace nacre::transport::mpi {

/// What decides which module is loaded.
struct module_choice {
  std::string library = "auto";  ///< auto, or the name of a flavour
  std::string folder;            ///< where the modules are; empty: beside the executable, or where they were installed
};

/// The flavour that is meant: the one that is asked for; or whose library is in the process already, because the
/// program uses it; or whose mpirun has started the process. Null when nothing tells.
[[nodiscard]] const flavour* find_flavour(const module_choice& choice) noexcept;

/// The MPI of that flavour, or, when it is null, of the first whose module is there. A process can hold only one, for
/// ever. Throws setup_error, which names the places that were searched, or what does not fit.
[[nodiscard]] library& load_library(const flavour* wanted, const std::string& folder);

}  // namespace nacre::transport::mpi
