// SPDX-License-Identifier: Apache-2.0
// A recorder of one worker. The test sets its clock and counts the readings.
#pragma once

#include "trace/recorder.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/trace_log.hpp"

namespace nacre::trace {

inline constexpr std::uint64_t start = 5000;
inline std::uint64_t instant = start;
inline int readings = 0;

inline std::uint64_t read_instant(const void*) {
  ++readings;
  return instant;
}

/// A stretch of time that a thread spent in a handler.
struct span {
  std::int64_t begin, end;
  std::uint64_t handler;
  event_kind kind;
  bool operator==(const span&) const = default;
};

/// The trace of one worker. Its ticks are nanoseconds. Times in tests count from `start`.
class recorders : public testing::Test {
 protected:
  recorders() : path_(testing::TempDir() + "nacre_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    instant = start;
    open();
  }
  ~recorders() override { std::filesystem::remove(path_); }

  void open(std::size_t thread_bytes = 1 << 16, double short_seconds = 2e-6) {
    trace_.reset();
    file_.emplace(path_);
    job_description job;
    job.ranks = 4;
    job.handlers = {"", "one", "two", "three"};
    tell_job(*file_, job);
    rank_trace::description description;
    description.thread_bytes = thread_bytes;
    description.short_seconds = short_seconds;
    trace_.emplace(*file_, description, &read_instant, nullptr);
    thread_ = &trace_->of_thread(0);
    trace_->tell_clock({instant, 0, 0, 0}, 1);
    thread_->add(event_kind::wave);  // the first event makes the buffer
    readings = 0;
  }
  void run(std::uint32_t handler, std::uint64_t ticks, std::uint64_t gap = 0) {
    thread_->item();
    thread_->begin(event_kind::handler_begin, handler);
    instant += ticks;
    thread_->end();
    instant += gap;
    thread_->rest();
  }
  /// Ends the trace and reads it.
  void close() {
    trace_->finish();
    file_.reset();
    const trace_log log(path_);
    events_.clear();
    spans_.clear();
    log.visit(0, [this](std::span<const event> some) { events_.insert(events_.end(), some.begin(), some.end()); });
    std::vector<std::size_t> open;
    std::int64_t last = 0;
    for (const event& each : events_) {
      ASSERT_GE(each.ns, last) << "in the order of time";
      ASSERT_LT(each.kind, event_kind::ends) << "handlers are handed over one by one";
      last = each.ns;
      if (each.kind == event_kind::end) {
        ASSERT_FALSE(open.empty()) << "what ends has begun";
        spans_[open.back()].end = each.ns;
        open.pop_back();
      } else if (each.kind < event_kind::send) {
        open.push_back(spans_.size());
        spans_.push_back({each.ns, -1, each.a, each.kind});
      }
    }
  }
  [[nodiscard]] std::int64_t now() const { return static_cast<std::int64_t>(instant - start); }
  [[nodiscard]] std::int64_t work() const {
    std::int64_t sum = 0;
    for (const span& each : spans_) sum += each.end - each.begin;
    return sum;
  }

  std::string path_;
  std::optional<file_writer> file_;
  std::optional<rank_trace> trace_;
  recorder* thread_ = nullptr;
  std::vector<event> events_;
  std::vector<span> spans_;
};

}  // namespace nacre::trace
