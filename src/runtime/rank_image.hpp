// SPDX-License-Identifier: Apache-2.0
// All that an image holds of one rank: packed while the job is quiet, and made again in a new job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/archive.hpp>
#include <nacre/images.hpp>
#include <nacre/operation_buffers.hpp>

#include "images/image_file.hpp"

namespace nacre {

class engine;
struct rank_numbers;
struct image_heads;
namespace detail {
struct group_type;
}  // namespace detail

/// Parts of an earlier image that a job keeps for its next one.
struct carried_over {
  /// The elements of a container, until the program takes it over.
  struct container {
    std::string name;  ///< of the class of its part
    std::vector<std::vector<std::byte>> elements;
    std::unique_ptr<detail::container_part> part{};  ///< with the elements; null: the program does not have the class
  };
  std::map<std::uint32_t, container> containers;  ///< by number
  std::uint32_t groups_before = 0;                ///< made before rt.restored, in each start anew
  /// The last numbers of objects that ranks have given which the job does not have any more, the first behind its own.
  std::vector<std::uint64_t> earlier_births;
};

/// A packed rank: of each section the pieces, one behind the other. What a function of the program has packed stays
/// where it is until it is written.
struct rank_image {
  std::map<std::uint32_t, std::deque<writer>> parts;
  std::uint64_t objects = 0;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
};

/// Packs this rank. Main, while the job is quiet. Throws image_obstacle, and what functions of the program's classes
/// throw.
[[nodiscard]] rank_image pack_rank(engine& core, thread_context& thread, const detail::kept_value& kept,
                                   const carried_over& earlier);

/// Makes a rank from the files of an image: with as many ranks as then, from its own; else from those of its number and
/// every so many further on, and objects go to their homes. Main, before the job has anything. Functions throw
/// image_misfit. All but check are collective.
class rank_restorer {
 public:
  /// `files`: of the ranks r, r + M, r + 2 M, ... of an image of `ranks` ranks, where this is rank r of M.
  rank_restorer(engine& core, thread_context& thread, std::vector<images::sections> files, std::uint32_t ranks);
  ~rank_restorer();
  rank_restorer(const rank_restorer&) = delete;
  rank_restorer& operator=(const rank_restorer&) = delete;

  /// Compares the files with the program, and changes nothing.
  void check(std::uint32_t groups_before) const;
  /// Opens the arrays. `earlier` gets what the job keeps of the image.
  void open(carried_over& earlier);
  /// Installs objects and groups, and tells homes. Returns the objects that should go to other ranks.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint32_t>> install();
  /// Installs the sections. When all ranks have installed their objects.
  void install_sections();
  /// Opens the steps of contributions that were open. When all ranks have installed their sections.
  void install_steps();
  /// Messages that are sent later. When the job's time goes on.
  void install_delayed();
  /// Gives back the memory of the files. When all else has been installed.
  void release_files() noexcept { files_ = {}; }
  /// Members that want to know hear that all groups are there. When all ranks have installed.
  void tell_groups();
  /// On rank 0: the kept value and its class.
  [[nodiscard]] detail::kept_value kept() const;

 private:
  [[nodiscard]] bool is_resized() const noexcept;
  void exchange();
  [[nodiscard]] std::vector<std::uint64_t> last_of_births() const;
  void reckon_homes();
  void install_groups();

  engine& core_;
  thread_context& thread_;
  std::vector<images::sections> files_;
  const std::uint32_t ranks_;                                                 // of the image
  std::vector<rank_numbers> numbers_;                                         // by rank of the image
  std::unique_ptr<image_heads> heads_;                                        // those of rank 0
  std::vector<std::pair<const detail::group_type*, void*>> waiting_members_;  // for tell_groups
};

}  // namespace nacre
