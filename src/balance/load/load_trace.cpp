// SPDX-License-Identifier: Apache-2.0
// Writing and reading load traces.
#include "balance/load/load_trace.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <nacre/error.hpp>

namespace nacre::balance {
namespace {

constexpr std::string_view format_word = "nacre-load-trace-1";

/// Reads the words of a text line by line; errors name the number of the line.
class line_reader {
 public:
  line_reader(std::string_view text, std::string_view name) : left_(text), name_(name) {}

  /// False at the end of the text. A last line without '\n' counts as missing.
  bool next_line() {
    const std::size_t end = left_.find('\n');
    if (end == std::string_view::npos) return false;
    line_ = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    ++number_;
    return true;
  }
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }
  [[nodiscard]] std::string_view word() {
    const std::size_t end = std::min(line_.find(' '), line_.size());
    const std::string_view match = line_.substr(0, end);
    line_.remove_prefix(std::min(end + 1, line_.size()));
    return match;
  }
  template <class Number>
  [[nodiscard]] Number number(const char* name) {
    const std::string_view text = word();
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
      fail("'" + std::string(text) + "' is not " + name);
    }
    return value;
  }
  void end_of_line() {
    if (!line_.empty()) fail("there is more than it should have: '" + std::string(line_) + "'");
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw setup_error({.problem = "line " + std::to_string(number_) + " of " + std::string(name_) + ": " + problem,
                       .why = "it is no load trace, or a damaged one",
                       .remedy = "record it again with --nacre.record_load=FILE"});
  }

 private:
  std::string_view left_;
  std::string_view name_;
  std::string_view line_{};
  std::size_t number_ = 0;
};

load_row parse_row(line_reader& in, std::uint32_t interval, const load_trace& trace) {
  load_row row;
  row.interval = interval;
  row.rank = in.number<std::uint32_t>("a rank");
  row.object = in.number<std::uint64_t>("the name of an object");
  row.seconds = in.number<double>("a time in seconds");
  row.messages = in.number<std::uint32_t>("a number of messages");
  row.bytes = in.number<std::uint64_t>("a number of bytes");
  in.end_of_line();
  if (row.rank >= trace.ranks) in.fail("there is no rank " + std::to_string(row.rank));
  if (!std::isfinite(row.seconds) || row.seconds < 0) in.fail("a time that cannot be");
  return row;
}

}  // namespace

std::string head_of(const load_trace& trace) {
  char line[160];
  std::snprintf(line, sizeof line, " %u %u %.9g\n", trace.ranks, trace.workers, trace.interval);
  return std::string(format_word) + line;
}

std::string text_of(std::vector<load_row> rows) {
  std::sort(rows.begin(), rows.end(), [](const load_row& a, const load_row& b) {
    return std::tie(a.interval, a.rank, a.object) < std::tie(b.interval, b.rank, b.object);
  });
  std::string text;
  char line[160];
  for (const load_row& each : rows) {
    std::snprintf(line, sizeof line, "%u %u %llu %.9g %u %llu\n", each.interval, each.rank,
                  static_cast<unsigned long long>(each.object), each.seconds, each.messages,
                  static_cast<unsigned long long>(each.bytes));
    text += line;
  }
  return text;
}

std::string end_of(std::size_t rows) { return "end " + std::to_string(rows) + "\n"; }

std::string as_text(load_trace trace) {
  const std::size_t rows = trace.rows.size();
  return head_of(trace) + text_of(std::move(trace.rows)) + end_of(rows);
}

load_trace parse_load_trace(std::string_view text, std::string_view name) {
  constexpr std::uint32_t ranks_max = 1'000'000, workers_max = 65536;
  line_reader in(text, name);
  if (!in.next_line() || in.word() != format_word) in.fail("it does not begin with " + std::string(format_word));
  load_trace result;
  result.ranks = in.number<std::uint32_t>("a number of ranks");
  result.workers = in.number<std::uint32_t>("a number of workers");
  result.interval = in.number<double>("an interval in seconds");
  in.end_of_line();
  const bool possible = result.ranks > 0 && result.ranks <= ranks_max && result.workers > 0 &&
                        result.workers <= workers_max && result.interval > 0 && std::isfinite(result.interval);
  if (!possible) in.fail("no run has so many ranks or workers, or such an interval");
  while (in.next_line()) {
    line_reader same = in;
    if (same.word() == "end") {
      if (same.number<std::size_t>("a number of rows") != result.rows.size())
        same.fail("rows are missing before the end");
      same.end_of_line();
      if (!same.at_end()) same.fail("something follows the end");
      return result;
    }
    const auto interval = in.number<std::uint32_t>("the number of an interval");
    if (!result.rows.empty() && interval < result.rows.back().interval) in.fail("time goes back");
    result.rows.push_back(parse_row(in, interval, result));
  }
  in.fail("the end is missing after it");
}

void load_recorder::done::add(const done& later) {
  seconds += later.seconds;
  messages += later.messages;
  if (later.bytes != 0) bytes = later.bytes;
}

/// The bytes of an object's name from the last one on, of which the first ones differ least: so the rows of all ranks
/// follow each other mixed, and a piece of the recording has some of each. Its own inverse.
std::uint64_t load_recorder::mixed(std::uint64_t object) noexcept { return __builtin_bswap64(object); }

void load_recorder::note(double now, object_id object, double seconds, std::uint32_t messages, std::uint64_t bytes) {
  constexpr double last = 4e9;  // all later time is one interval
  const std::scoped_lock lock(guard_);
  const auto interval = static_cast<std::uint32_t>(std::clamp(now / interval_, 0.0, last));
  done_[{interval, mixed(object.value())}].add({seconds, messages, bytes});
  if (done_.size() >= limit_) shrink();
}

/// Under the guard.
void load_recorder::shrink() {
  std::unordered_set<std::uint64_t> objects;
  for (const auto& [key, each] : done_) objects.insert(key.second);
  const std::size_t aim = std::max(rows_max_ - rows_max_ / 4, 2 * objects.size());
  while (done_.size() > aim) double_interval();
  limit_ = std::max(rows_max_, 4 * objects.size());
}

/// Under the guard.
void load_recorder::double_interval() {
  std::map<row_key, done> fewer;
  for (const auto& [key, each] : done_) fewer[{key.first / 2, key.second}].add(each);
  done_ = std::move(fewer);
  interval_ *= 2;
}

double load_recorder::interval() const {
  const std::scoped_lock lock(guard_);
  return interval_;
}

void load_recorder::widen_to(double interval) {
  const std::scoped_lock lock(guard_);
  while (interval_ < interval) double_interval();
}

load_recorder::row_key load_recorder::end_of_first(std::size_t count) const {
  const std::scoped_lock lock(guard_);
  if (done_.size() <= count) return last_key;
  const row_key next = std::next(done_.begin(), static_cast<std::ptrdiff_t>(count))->first;
  return done_.begin()->first.first < next.first ? row_key{next.first, 0} : next;
}

std::vector<load_row> load_recorder::take(row_key end, rank_id rank) {
  const std::scoped_lock lock(guard_);
  const auto last = done_.lower_bound(end);
  std::vector<load_row> rows;
  for (auto each = done_.begin(); each != last; ++each) {
    const auto& [key, sums] = *each;
    rows.push_back({key.first, rank.value(), mixed(key.second), sums.seconds, sums.messages, sums.bytes});
  }
  done_.erase(done_.begin(), last);
  return rows;
}

}  // namespace nacre::balance
