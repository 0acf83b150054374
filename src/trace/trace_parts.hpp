// SPDX-License-Identifier: Apache-2.0
// The parts of a trace that is read: its files, their blocks, and the data of each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/decoding.hpp"
#include "trace/trace_log.hpp"

namespace nacre::trace {

inline constexpr std::uint32_t ranks_max = 1'000'000;
inline constexpr std::uint32_t threads_max = 1u << 17;

/// Throws setup_error.
[[noreturn]] void refuse(const std::string& problem, const std::string& reason, const std::string& remedy);

[[noreturn]] void refuse_damaged(const std::string& path, std::size_t place, const std::string& name);

/// A file, mapped.
struct trace_log::part {
  explicit part(std::string name);
  part(const part&) = delete;
  part& operator=(const part&) = delete;
  ~part();
  std::string path;
  std::span<const std::byte> bytes;
  std::string job_text;
  bool breaks_off = false;  // the file ends within a block
};

struct trace_log::instant {
  std::uint64_t tick = 0;
  double ns = 0;  // by the clock of rank 0
  std::int64_t error_ns = 0;
};

struct trace_log::rank_of {
  bool told = false;
  bool has_no_file = false;      // and a note names it
  const part* source = nullptr;  // once `told`
  std::uint32_t thread_contexts = 0;
  tick_clock time;
  std::vector<instant> instants;
  std::vector<std::uint32_t> phases;  // in trace_log::phases_, by the rank's own number; 0: not told
  std::uint64_t job = 0;
};

struct trace_log::block {
  const part* source;
  std::size_t place;  // of its head
  block_head head;
};

}  // namespace nacre::trace
