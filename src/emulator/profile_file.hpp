// SPDX-License-Identifier: Apache-2.0
// The file of an emulation that `nacre report` draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nacre/emulator.hpp>

namespace nacre::emulator {

/// All of a profile but its cells. It has nothing of the host: wall time, memory and the number of blocks are left out,
/// so that equal emulations make equal files.
struct profile_head {
  std::string program;
  emulated_machine machine;
  emulation_counts counts;
  critical_path path;
  std::uint64_t bin_ns = 1;  ///< the width of a bin of virtual time
  std::uint32_t bins = 0;    ///< of each node: up to the end
  template <class Archive>
  void serialize(Archive& ar) {
    ar(program, machine, counts, path, bin_ns, bins);
  }
};

/// The file while the emulation runs: opened at the start, so that a wrong name shows before the work.
class profile_output {
 public:
  /// Throws setup_error when the file cannot be written.
  explicit profile_output(std::string path);
  /// Removes a file that has not been written whole.
  ~profile_output();
  profile_output(const profile_output&) = delete;
  profile_output& operator=(const profile_output&) = delete;
  /// `cells` has the nanoseconds for which the threads of a node have worked, bin after bin, node after node. Throws
  /// setup_error.
  void write(const profile_head& head, std::span<const std::uint64_t> cells);

 private:
  std::string path_;
  std::ofstream file_;
  bool written_ = false;
};

/// Whether a file begins as a profile does; false for one that cannot be read.
[[nodiscard]] bool is_profile(const std::string& path);

/// A profile in memory, compressed no more; cells are decoded when they are asked for.
class profile_input {
 public:
  /// Throws setup_error, which names the file, for one that cannot be read, is damaged, or is of another version.
  explicit profile_input(const std::string& path);
  [[nodiscard]] const profile_head& head() const noexcept { return head_; }
  /// Calls visit(number of the node, its cells) for every node that has worked, in the order of their numbers. The
  /// cells are valid during the call. Throws setup_error when the file is damaged.
  void for_each(const std::function<void(std::uint64_t, std::span<const std::uint64_t>)>& visit) const;

 private:
  [[noreturn]] void refuse(const std::string& problem) const;

  std::string path_;
  std::vector<std::byte> payload_;
  profile_head head_;
  std::size_t cells_at_ = 0;  ///< in the payload
};

}  // namespace nacre::emulator
