// SPDX-License-Identifier: Apache-2.0
// Records the work of a job's objects over time into a file.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"
#include "runtime/rank_output.hpp"

namespace nacre {
namespace {

constexpr std::size_t rows_of_piece_max = std::size_t{1} << 20U;  // some 40 MB, packed or as text

/// A file that is written piece by piece; after a failure nothing more is.
class piecewise_file {
 public:
  explicit piecewise_file(const std::string& path) : file_(std::fopen(path.c_str(), "w"), &std::fclose) {
    if (file_ == nullptr) fault_ = std::strerror(errno);
  }
  void write(std::string_view text) {
    if (!fault_.empty()) return;
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fault_ = std::strerror(errno);
  }
  /// Returns an empty text, or what went wrong.
  [[nodiscard]] std::string close() {
    if (file_ != nullptr && std::fclose(file_.release()) != 0 && fault_.empty()) fault_ = std::strerror(errno);
    return fault_;
  }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string fault_;
};

}  // namespace

void rank_output::record_load() {
  const auto interval = configuration_.get_duration("record_load_interval");
  const auto rows = static_cast<std::size_t>(configuration_.get_int("record_load_rows"));
  recorder_ = std::make_unique<balance::load_recorder>(std::chrono::duration<double>(interval).count(),
                                                       std::max<std::size_t>(rows / rank_.size(), 1));
  rank_.objects().clock().observe_steps(
      [this](object_id object, double spent, std::uint32_t messages, std::uint64_t bytes) {
        recorder_->note(rank_.job_time().own_seconds(), object, spent, messages, bytes);
      });
}

/// Collective; rank 0 writes. The ranks send it their rows in pieces, each up to a common key, so that neither a
/// message nor the memory of rank 0 grows with the recording.
void rank_output::write_load_trace(thread_context& thread) {
  using rows = std::vector<balance::load_row>;
  using row_key = balance::load_recorder::row_key;
  runtime rt(rank_, thread);
  const auto later = [](double a, double b) { return std::max(a, b); };
  const auto earlier = [](const row_key& a, const row_key& b) { return std::min(a, b); };
  const double interval = rt.all_reduce(recorder_->interval(), later);
  recorder_->widen_to(interval);
  const auto rows_of_job = static_cast<std::size_t>(configuration_.get_int("record_load_rows"));
  const std::size_t of_rank = std::max<std::size_t>(std::min(rows_of_job, rows_of_piece_max) / rank_.size(), 1);
  const std::string& path = configuration_.get_string("record_load");
  const bool writes = rank_.rank().value() == 0;
  std::unique_ptr<piecewise_file> file;
  if (writes) {
    file = std::make_unique<piecewise_file>(path);
    file->write(balance::head_of({.ranks = rank_.size(), .workers = rank_.pool().workers(), .interval = interval}));
  }
  std::size_t written = 0;
  row_key end{};
  while (end != balance::load_recorder::last_key) {
    end = rt.all_reduce(recorder_->end_of_first(of_rank), earlier);
    rows piece;
    for (const rows& each : rt.gather(recorder_->take(end, rank_.rank()), rank_id{0})) {
      piece.insert(piece.end(), each.begin(), each.end());
    }
    written += piece.size();
    if (writes) file->write(balance::text_of(std::move(piece)));
  }
  if (!writes) return;
  file->write(balance::end_of(written));
  tell_lost("the load trace", path, file->close());
}

}  // namespace nacre
