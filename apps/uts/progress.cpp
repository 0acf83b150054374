// SPDX-License-Identifier: Apache-2.0
// Writes the progress line with carriage returns.
#include "progress.hpp"

#include <fmt/format.h>

#include <cstdio>

#include <program_options.hpp>

#include "report.hpp"

namespace uts {
namespace {

constexpr double interval_seconds = 0.25;

/// Returns to the line's start and erases it (ECMA-48).
constexpr const char* erase_line = "\r\x1b[K";

}  // namespace

progress_line::progress_line(progress_mode mode, std::optional<std::uint64_t> nodes_total)
    : enabled_(mode == progress_mode::on_terminal && nacre::progress_is_seen()), nodes_total_(nodes_total) {}

progress_line::~progress_line() {
  if (shown_nodes_ == 0) return;
  std::fputs(erase_line, stderr);
  std::fflush(stderr);
}

void progress_line::update(std::uint64_t nodes, double seconds) {
  const double elapsed = seconds - shown_at_seconds_;
  if (!enabled_ || elapsed < interval_seconds) return;
  const double rate = static_cast<double>(nodes - shown_nodes_) / elapsed;
  std::fputs(fmt::format("{}{}", erase_line, progress_text(nodes, rate, nodes_total_)).c_str(), stderr);
  std::fflush(stderr);
  shown_at_seconds_ = seconds;
  shown_nodes_ = nodes;
}

}  // namespace uts
