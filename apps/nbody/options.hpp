// SPDX-License-Identifier: Apache-2.0
// The command line of nbody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/model.hpp"
#include "numerics/accuracy.hpp"

namespace nbody {

/// How the work of pieces is balanced over the ranks.
enum class balance_kind : std::uint8_t {
  none,    ///< pieces have equal numbers of bodies, and stay on their ranks
  bound,   ///< pieces keep their part of space and their ranks; cut by the time of the last step every recut_steps
  ranges,  ///< after a step, pieces move so that each rank has a range of the curve that took an equal time
  cut      ///< the same, and the curve is cut into pieces that took an equal time
};

/// How cells of other ranks come to a walk.
enum class essential_kind : std::uint8_t {
  push,  ///< each rank sends each other one what that one's branches can open, before anybody walks
  pull   ///< a piece that is about to walk asks for what its rank does not have yet
};

struct options {
  model_settings model{.kind = model_kind::plummer, .bodies = 10000, .seed = 1};
  std::string model_name = "plummer";  ///< or a file
  std::uint32_t steps = 10;
  double error = 1e-3;      ///< of the forces, root mean square; 0: direct sums in double precision
  double step = 0.01;       ///< the longest step of a body
  std::uint32_t rungs = 0;  ///< bodies have steps of their own, down to the longest / 2^rungs; 0: all have the longest
  double efficiency = 0.025;
  double gravity = 1;
  bool has_gravity = false;  ///< it was given; else a file may have units in which it is another one
  softening soft{};
  std::uint32_t pieces = 0;  ///< 0: by the number of bodies
  balance_kind balance = balance_kind::ranges;
  std::uint32_t recut_steps = 0;  ///< of balance_kind::bound; 0: never after the first cut
  essential_kind essential = essential_kind::push;
  bool check = false;
  std::uint32_t samples = 1000;  ///< bodies that --check compares
  std::uint32_t report_steps = 10;
  bool quiet = false;
  bool bench_kernel = false;
  std::string json{}, out{};
  std::string pictures{};  ///< PREFIX of PREFIX-000010.png and PREFIX.png
  std::uint32_t picture_steps = 10, pixels = 512;
  double half_width = 0;  ///< of what pictures show; 0: three half-mass radii
};

/// A command line that was read.
struct command_line {
  options asked;
  /// Set when there is nothing to run: help was printed (0), or what is wrong and what to try (2, on standard error).
  std::optional<int> exit_code;
};

[[nodiscard]] command_line parse_command_line(int argc, const char* const* argv);

/// How many pieces there are; depends on nothing else, so that the state does not either.
[[nodiscard]] std::uint32_t pieces_for(const options& asked) noexcept;

}  // namespace nbody
