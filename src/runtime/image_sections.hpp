// SPDX-License-Identifier: Apache-2.0
// The contents of the sections in the file of a rank; docs/protocols/images.md describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/expected.hpp>

#include "images/image_file.hpp"
#include "mobile/image/object_images.hpp"

namespace nacre {

/// The numbers from which a rank counts on.
struct rank_numbers {
  object_numbers objects;
  std::uint32_t groups = 0, groups_before = 0, containers = 0;
  bool is_resized = false;                      ///< homes were not births
  std::vector<std::uint64_t> earlier_births{};  ///< see carried_over; rank 0
  template <class Archive>
  void serialize(Archive& ar) {
    ar(objects, groups, groups_before, containers, is_resized, earlier_births);
  }
};

/// The numbers of the sections of a file.
enum image_section : std::uint32_t {
  numbers_section = 1,
  names_section,
  arrays_section,
  sections_section,
  groups_section,
  containers_section,
  objects_section,
  kept_section,
  lying_section,
  steps_section,
  delayed_section
};

/// A rank's member of a group.
struct group_image {
  std::uint32_t number = 0;
  std::string row, name;  ///< mangled, and for people
  std::vector<std::byte> member;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, row, name, member);
  }
  /// Writes what `serialize` writes of a member of so many bytes, up to those.
  void write_head(writer& out, std::size_t bytes) const {
    out(number, row, name);
    out.write_length(bytes);
  }
};
/// A rank's elements of a container.
struct container_image {
  std::uint32_t number = 0;
  std::string name;
  std::vector<std::vector<std::byte>> elements;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(number, name, elements);
  }
  /// Writes what `serialize` writes of one that has all its elements in so many bytes, up to those.
  void write_head(writer& out, std::size_t bytes) const {
    out(number, name);
    out.write_length(1);
    out.write_length(bytes);
  }
};
struct kept_image {
  std::string class_name;
  std::uint32_t mark = 0;
  std::vector<std::byte> bytes;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(class_name, mark, bytes);
  }
};

/// A section of a file. Throws image_misfit.
template <class T>
[[nodiscard]] T read_section(const images::sections& file, std::uint32_t section, const char* name) {
  const auto match = file.find(section);
  if (match != file.end()) {
    expected<T, wire_error> value = unpack<T>(match->second);
    if (value) return std::move(*value);
  }
  throw image_misfit(std::string("the image has no ") + name + " that this version of Nacre can read");
}

}  // namespace nacre
