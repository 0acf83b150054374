// SPDX-License-Identifier: Apache-2.0
// Bodies in files: text, and HDF5 as GADGET writes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "numerics/body.hpp"

namespace nbody {

enum class file_format : std::uint8_t { unknown, text, hdf5 };
[[nodiscard]] file_format format_of(const std::string& name) noexcept;

/// Centimetres, grams, and centimetres in a second, as GADGET tells them. 0: not known.
struct file_units {
  double length = 0, mass = 0, velocity = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(length, mass, velocity);
  }
};
/// The constant of gravity in these units; 0 if they are not known.
[[nodiscard]] double gravity_of(const file_units& units) noexcept;

struct snapshot {
  double time = 0;
  std::vector<body> bodies{};
  std::vector<std::uint64_t> ids{};  ///< in files with names of bodies, by their numbers; empty: a body's number + 1
  file_units units{};
};

/// Throws nacre::setup_error that says what is wrong and where: a file that cannot be read, is truncated or lacks
/// something, an expanding or a periodic space, a place or a velocity that is no finite number, a mass that is not
/// positive, two bodies on one place.
[[nodiscard]] snapshot read_snapshot(const std::string& name);
/// Writes bodies in the order of their numbers. Throws nacre::setup_error.
void write_snapshot(const std::string& name, snapshot content);

/// Throws nacre::setup_error for bodies that gravity cannot handle; `name` is that of the file.
void demand_sound(const std::string& name, const std::vector<body>& bodies);

/// The formats by themselves.
[[nodiscard]] snapshot read_text(const std::string& name);
void write_text(const std::string& name, const snapshot& content);
[[nodiscard]] snapshot read_hdf5(const std::string& name);
void write_hdf5(const std::string& name, const snapshot& content);
[[nodiscard]] bool has_hdf5() noexcept;

}  // namespace nbody
