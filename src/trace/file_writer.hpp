// SPDX-License-Identifier: Apache-2.0
// The trace file of a process, to which its thread contexts append blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/file_format.hpp"

namespace nacre::trace {

/// Any thread may append; blocks of one thread stay in their order. When the file cannot be written any more, as on a
/// full disk, the writer puts one line on standard error and gives up. The job goes on, and the part of the file that
/// was written before can be read.
class file_writer {
 public:
  /// Creates the file, or empties it. Throws setup_error if that is impossible.
  explicit file_writer(std::string path);
  ~file_writer();
  file_writer(const file_writer&) = delete;
  file_writer& operator=(const file_writer&) = delete;

  /// Compresses the payload and writes the block. `head` needs kind, rank, thread and first_tick.
  void append(block_head head, std::span<const std::byte> payload);
  void append(block_head head, std::string_view text) { append(head, std::as_bytes(std::span(text))); }

  /// False: a block could not be written, which a line has told; the file ends before it.
  [[nodiscard]] bool is_whole() {
    const std::scoped_lock lock(mutex_);
    return file_ >= 0;
  }

 private:
  struct compressor;
  [[nodiscard]] std::unique_ptr<compressor> borrow();
  void write(std::span<const std::byte> bytes);

  std::string path_;
  std::mutex mutex_;
  int file_ = -1;                                  // -1: given up
  std::uint64_t written_ = 0;                      // bytes, up to the end of a block
  std::vector<std::unique_ptr<compressor>> free_;  // as many as threads have been in append() at once
};

}  // namespace nacre::trace
