// SPDX-License-Identifier: Apache-2.0
// Sorted runs in a file, which are merged.
#include "tool/report/sorted_records.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <tuple>
#include <type_traits>
#include <utility>

#include <nacre/error.hpp>

namespace nacre::tool {
namespace {

static_assert(std::is_trivially_copyable_v<paraver_record>);

constexpr std::size_t merged_in_memory = std::size_t{1} << 20;  // records, of all runs together
constexpr std::size_t read_at_once_min = 64;

bool comes_before(const paraver_record& x, const paraver_record& y) {
  return std::tie(x.ns, x.kind, x.track) < std::tie(y.ns, y.kind, y.track);
}

}  // namespace

/// A run while it is read.
struct sorted_records::run {
  std::size_t place = 0, left = 0;  // in the file, in records
  std::size_t next = 0;             // in `read`
  std::vector<paraver_record> read{};
};

sorted_records::~sorted_records() {
  if (file_ >= 0) ::close(file_);
}

void sorted_records::refuse(const char* verb) const {
  throw setup_error(
      {.problem = "cannot " + std::string(verb) + " a file beside '" + path_ + "': " + std::strerror(errno),
       .why = "records of a long trace are sorted there",
       .remedy = "name a place with more room with --output"});
}

void sorted_records::add(const paraver_record& record) {
  waiting_.push_back(record);
  if (waiting_.size() >= in_memory_) write_run();
}

void sorted_records::sort_waiting() { std::stable_sort(waiting_.begin(), waiting_.end(), &comes_before); }

void sorted_records::write_run() {
  if (file_ < 0) {
    std::string name = path_ + ".XXXXXX";
    file_ = ::mkstemp(name.data());
    if (file_ < 0) refuse("make");
    ::unlink(name.c_str());
  }
  sort_waiting();
  const auto* next = reinterpret_cast<const char*>(waiting_.data());
  for (std::size_t left = waiting_.size() * sizeof(paraver_record); left != 0;) {
    const ::ssize_t written = ::write(file_, next, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse("write");
    next += written;
    left -= static_cast<std::size_t>(written);
  }
  runs_.push_back(waiting_.size());
  waiting_.clear();
}

void sorted_records::read_more(run& run, std::size_t records) const {
  run.read.resize(std::min(run.left, records));
  run.next = 0;
  auto* next = reinterpret_cast<char*>(run.read.data());
  auto place = static_cast<::off_t>(run.place * sizeof(paraver_record));
  for (std::size_t left = run.read.size() * sizeof(paraver_record); left != 0;) {
    const ::ssize_t got = ::pread(file_, next, left, place);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) refuse("read");
    next += got;
    place += got;
    left -= static_cast<std::size_t>(got);
  }
  run.place += run.read.size();
  run.left -= run.read.size();
}

void sorted_records::visit(const std::function<void(const paraver_record&)>& function) {
  if (runs_.empty()) {
    sort_waiting();
    for (const paraver_record& each : waiting_) function(each);
    return;
  }
  if (!waiting_.empty()) write_run();
  waiting_ = {};
  const std::size_t at_once = std::max(merged_in_memory / runs_.size(), read_at_once_min);
  std::vector<run> runs;
  for (std::size_t place = 0; const std::size_t records : runs_) {
    runs.push_back({.place = place, .left = records});
    place += records;
  }
  // Equal records of an earlier run have come first.
  const auto is_later = [&](std::size_t x, std::size_t y) {
    const paraver_record &of_x = runs[x].read[runs[x].next], &of_y = runs[y].read[runs[y].next];
    return comes_before(of_y, of_x) || (!comes_before(of_x, of_y) && y < x);
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_later)> next_runs(is_later);
  for (std::size_t index = 0; index < runs.size(); ++index) {
    read_more(runs[index], at_once);
    next_runs.push(index);
  }
  while (!next_runs.empty()) {
    const std::size_t index = next_runs.top();
    next_runs.pop();
    run& run = runs[index];
    function(run.read[run.next]);
    if (++run.next == run.read.size() && run.left != 0) read_more(run, at_once);
    if (run.next < run.read.size()) next_runs.push(index);
  }
}

}  // namespace nacre::tool
