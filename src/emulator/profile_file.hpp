// SPDX-License-Identifier: Apache-2.0
// The file of an emulation that `nacre report` draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nacre/emulator.hpp>

namespace nacre::emulator {

/// All of a profile but its cells. It has nothing of the host: wall time, memory and the number of blocks are left out,
/// so that equal emulations make equal files.
struct profile_head {
  std::string title;  ///< emulation_options::title
  emulated_machine machine;
  emulation_counts counts;
  critical_path path;
  std::uint64_t bin_ns = 1;  ///< the width of a bin of virtual time
  std::uint32_t bins = 0;    ///< of each node: up to the end
  template <class Archive>
  void serialize(Archive& ar) {
    ar(title, machine, counts, path, bin_ns, bins);
  }
};

/// All of a profile but its head.
struct profile_content {
  std::span<const std::uint64_t> handlers;  ///< that each node has run
  std::span<const std::uint64_t> cells;     ///< nanoseconds for which its threads have worked, bin after bin
};

/// The file that an emulation writes at its end and checks at its start, so that a wrong name shows before the work.
class profile_output {
 public:
  /// Throws setup_error when the file cannot be written. An existing file keeps its content until `write` replaces it.
  explicit profile_output(std::string path);
  /// Replaces the file in one step. Throws setup_error; the file then has its former content.
  void write(const profile_head& head, const profile_content& content) const;

 private:
  std::string path_;
};

/// Whether a file begins as a profile does; false for one that cannot be read.
[[nodiscard]] bool is_profile(const std::string& path);

/// A node that has run handlers.
struct profile_row {
  std::uint64_t node = 0;  ///< its number
  std::uint64_t handlers = 0;
  std::span<const std::uint64_t> cells;  ///< all 0 where its handlers took no virtual time
};

/// A profile in memory, compressed no more; cells are decoded when they are asked for.
class profile_input {
 public:
  static constexpr std::size_t bytes_max_default = std::size_t{256} << 20;
  /// Throws setup_error, which names the file, for one that cannot be read, is damaged, or is of another version. More
  /// than `bytes_max` are read only where the head tells of so many nodes.
  explicit profile_input(const std::string& path, std::size_t bytes_max = bytes_max_default);
  [[nodiscard]] const profile_head& head() const noexcept { return head_; }
  /// Calls visit for every node that has run a handler, in the order of their numbers. The cells are valid during the
  /// call. Throws setup_error when the file is damaged.
  void for_each(const std::function<void(const profile_row&)>& visit) const;

 private:
  [[noreturn]] void refuse(const std::string& problem) const;

  std::string path_;
  std::vector<std::byte> payload_;
  profile_head head_;
  std::size_t cells_at_ = 0;  ///< in the payload
};

}  // namespace nacre::emulator
