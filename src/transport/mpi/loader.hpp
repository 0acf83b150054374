// SPDX-License-Identifier: Apache-2.0
// Finds the module of the MPI to use, and loads it into the process.
#pragma once

#include <string>

#include "transport/mpi/flavour.hpp"
#include "transport/mpi/module.hpp"

namespace nacre::transport::mpi {

/// The settings that decide which module is loaded.
struct module_choice {
  std::string library = "auto";  ///< auto, or the name of a flavour
  std::string folder;            ///< where the modules are; empty: beside the executable, or where they were installed
};

/// The flavour to use: the one that the configuration names; else the one in the process already, because the program
/// uses it; else the one of the mpirun that has started the process. Null: no sign of any.
[[nodiscard]] const flavour* find_flavour(const module_choice& choice) noexcept;

/// Whether a module of any flavour exists. Cheap.
[[nodiscard]] bool has_module(const std::string& folder);

/// The MPI of that flavour; null: the first flavour that has a module. A process can hold only one, for ever. Throws
/// setup_error, which names the folders that were searched, or the mismatch.
[[nodiscard]] library& load_library(const flavour* wanted, const std::string& folder);

}  // namespace nacre::transport::mpi
