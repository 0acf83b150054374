// SPDX-License-Identifier: Apache-2.0
// The places where a runtime calls code of its user, each as a small program whose code throws there.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

#include <nacre/nacre.hpp>

namespace nacre::tests {

/// Who must hear of it.
enum class ends_as : std::uint8_t {
  caught,  ///< the caller catches it and goes on, and what it does afterwards works as ever: rank 0 prints "goes on"
  job      ///< the job ends with one line
};

/// One place. Two ranks run `main`; what is thrown has the text "boom".
struct place {
  std::string_view name;
  void (*main)(runtime&);
  ends_as outcome;
  std::string_view text;          ///< that the caught error, or the last line of the job, contains beside "boom"
  std::string_view options = {};  ///< without --nacre., with a blank between two
  bool crosses = false;           ///< happens only where ranks share no memory: not over inproc
  bool early = false;  ///< before the ranks have met, where processes tell of each other's end too: in one process only
};

[[nodiscard]] std::span<const place> places_of_messages() noexcept;
[[nodiscard]] std::span<const place> places_of_objects() noexcept;
[[nodiscard]] std::span<const place> places_of_containers() noexcept;
[[nodiscard]] std::span<const place> places_of_policies() noexcept;

/// What throws when it is armed.
enum class fuse : std::uint8_t {
  none,
  copy,
  count,
  write,
  read,
  construct,
  compare,
  hash,
  load,
  may_migrate,
  priority,
  combine,
  on_tick,
  on_message,
  on_load,
  model,
  push,
  pop
};

/// From now on that throws, in all ranks of this process.
void arm(fuse fuse) noexcept;
/// Throws if that is armed.
void burn(fuse fuse);
/// Throws.
[[noreturn]] void boom();

/// Prints a line with "caught: " in front.
void say(std::string_view name);

/// Runs `f` and says on standard output what it threw.
template <class F>
void expect_throw(F&& f) {
  try {
    f();
    say("nothing was thrown");
  } catch (const std::exception& error) {
    say(error.what());
  }
}

}  // namespace nacre::tests
