// SPDX-License-Identifier: Apache-2.0
// Records the work of a job's objects over time into a file.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nacre/archive.hpp>

#include "runtime/engine.hpp"
#include "runtime/rank_output.hpp"

namespace nacre {

void rank_output::record_load() {
  const auto interval = configuration_.get_duration("record_load_interval");
  recorder_ = std::make_unique<balance::load_recorder>(std::chrono::duration<double>(interval).count());
  rank_.objects().clock().observe_steps(
      [this](object_id object, double spent, std::uint32_t messages, std::uint64_t bytes) {
        recorder_->note(rank_.job_time().own_seconds(), object, spent, messages, bytes);
      });
}

/// Collective; rank 0 writes.
void rank_output::write_load_trace(thread_context& thread) {
  using rows = std::vector<balance::load_row>;
  const auto join = [](std::vector<std::byte>& accumulated, std::span<const std::byte> contribution) {
    auto all = detail::unpack_own<rows>(accumulated);
    const auto more = detail::unpack_own<rows>(contribution);
    all.insert(all.end(), more.begin(), more.end());
    accumulated = pack(all);
  };
  const auto bytes =
      detail::run_collective(rank_, thread, {collective_kind::reduce, {}, pack(recorder_->rows(rank_.rank())), join});
  if (rank_.rank().value() != 0) return;
  const auto interval = configuration_.get_duration("record_load_interval");
  const std::string& path = configuration_.get_string("record_load");
  leave("the load trace", path,
        balance::as_text({.ranks = rank_.size(),
                          .workers = rank_.pool().workers(),
                          .interval = std::chrono::duration<double>(interval).count(),
                          .rows = detail::unpack_own<rows>(bytes)}));
}

}  // namespace nacre
