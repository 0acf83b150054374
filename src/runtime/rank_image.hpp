// SPDX-License-Identifier: Apache-2.0
// All that an image holds of one rank: packed while the job is quiet, and made again in a new job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/images.hpp>

#include "images/image_file.hpp"

namespace nacre {

class engine;

/// The elements of the containers of an image, until the program takes each over.
struct saved_containers {
  struct container {
    std::string name;  ///< of the class of its part
    std::vector<std::byte> elements;
  };
  std::map<std::uint32_t, container> waiting;  ///< by number
};

/// A packed rank.
struct rank_image {
  images::sections parts;
  std::uint64_t objects = 0;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
};

/// Packs this rank. `groups_before`: so many groups are made anew in each start, and not saved. Main, while the job is
/// quiet. Throws image_obstacle, and what functions of the program's classes throw.
[[nodiscard]] rank_image pack_rank(engine& core, thread_context& on, const detail::kept_value& kept,
                                   std::uint32_t groups_before, const saved_containers& untaken);

/// Makes a rank from its image, in two steps, since all ranks must know the arrays before objects come. Main, before
/// the job has anything. Both throw image_misfit.
class rank_restorer {
 public:
  rank_restorer(engine& core, thread_context& on, images::sections parts)
      : core_(core), on_(on), parts_(std::move(parts)) {}

  /// Compares the image with the program, and changes nothing.
  void check(std::uint32_t groups_before);
  /// Opens the arrays.
  void open();
  /// Installs objects, groups and the containers' elements, and tells homes.
  void install(saved_containers& containers);
  /// On rank 0: the kept value and its class.
  [[nodiscard]] detail::kept_value kept();

 private:
  struct content;
  void install_groups();
  template <class T>
  [[nodiscard]] T read(std::uint32_t section, const char* what) const;

  engine& core_;
  thread_context& on_;
  images::sections parts_;
};

}  // namespace nacre
