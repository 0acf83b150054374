// SPDX-License-Identifier: Apache-2.0
// Checks that a part is a valid mesh, without trust in what has made it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/part.hpp"
#include "kernel/size_rule.hpp"
#include "meshing/exact_sum.hpp"

namespace mesh2d {

/// The vertices on an interface, by the name of the piece and their places on it.
struct interface_record {
  std::uint32_t piece = none, neighbour = none;
  std::vector<index> fractions{};
  template <class Archive>
  void serialize(Archive& ar) {
    ar(piece, neighbour, fractions);
  }
};

/// A triangle that misses a bound because the input forbids to meet it.
struct exemption {
  point centroid{};
  double degrees = 0;         // its least angle
  bool by_precision = false;  // its sides are too short for the grid of doubles; else a small angle of the input
  template <class Archive>
  void serialize(Archive& ar) {
    ar(centroid.x, centroid.y, degrees, by_precision);
  }
};

/// Results of parts are added up by `merge`.
struct findings {
  static constexpr std::size_t listed_max = 20;  // faults and exemptions with their places; the rest is counted

  std::uint64_t triangles = 0, vertices = 0, sides_constrained = 0;
  double degrees_min = 180;
  std::uint64_t faults = 0, exempt = 0;
  std::vector<std::string> fault_texts{};
  std::vector<exemption> exemptions{};
  meshing::exact_sum twice_area{};
  double area_error_max = 0;            // the bound for the rounding of twice the area
  std::vector<std::uint32_t> pieces{};  // that are there as chains of constrained sides

  void fault(std::string text);
  void merge(const findings& other);
  template <class Archive>
  void serialize(Archive& ar) {
    ar(triangles, vertices, sides_constrained, degrees_min, faults, exempt, fault_texts, exemptions, twice_area,
       area_error_max, pieces);
  }
};

findings check_part(const part& given, const size_rule& rule);

/// The vertices on interfaces, as the mesh has them.
std::vector<interface_record> interfaces_of(const part& given);

}  // namespace mesh2d
