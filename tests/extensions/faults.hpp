// SPDX-License-Identifier: Apache-2.0
// Modules that misbehave, each in its own way, and a job in which one of them does while the ranks have work.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <nacre/nacre.hpp>

namespace nacre::tests {

/// One way to misbehave: the number of a command, and the words by which caller and standard error hear of it.
struct fault {
  std::string_view name;
  std::uint32_t command;
  std::string_view text;
  std::string_view options = {};  ///< without --nacre., with a blank between two
  bool ends_job = false;          ///< nothing can interrupt it
};

[[nodiscard]] std::span<const fault> faults() noexcept;

/// Makes the modules known. Before nacre::run.
void register_faulty_modules();

/// Rank 0 sends that command to the last rank, while a tree grows on all. Prints "exact" if the tree was counted
/// exactly, another module went on, and the caller got `text`.
void misbehave(runtime& rt, const fault& fault);

/// Keys that are forged, withdrawn and right. Prints "keys hold".
void use_keys(runtime& rt);

}  // namespace nacre::tests
