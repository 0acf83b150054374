// SPDX-License-Identifier: Apache-2.0
// Asks all ranks for their progress and shows it on the terminal.
#include "runtime/progress_line.hpp"
#include "base/print_error.hpp"
#include "base/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <nacre/runtime.hpp>

namespace nacre {
namespace {

constexpr std::chrono::milliseconds between_lines{250};
constexpr auto never = std::chrono::nanoseconds::max();

/// Returns to the line's start and erases it (ECMA-48).
constexpr const char* erase_line = "\r\x1b[K";

std::string short_number(double value) {
  static constexpr std::array units{"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  for (; value >= 9999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f}{}", value, unit == 0 || value >= 100 ? 0 : 1, units[unit]);
}

}  // namespace

bool terminal_line::possible() noexcept { return errors_reach_terminal(); }

void terminal_line::show(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  if (is_over_) return;
  shown_ = true;
  // The '\r' at the end lets output of the program overwrite the line.
  print_error("{}{}\r", erase_line, text);
  std::fflush(stderr);
}

void terminal_line::erase() {
  const std::scoped_lock lock(mutex_);
  is_over_ = true;
  if (!std::exchange(shown_, false)) return;
  std::fputs(erase_line, stderr);
  std::fflush(stderr);
}

std::string progress_teller::text(const std::vector<rank_progress>& now, std::size_t answered, double time) {
  previous_.resize(now.size());
  std::uint64_t handlers = 0, fresh = 0;
  std::uint32_t workers = 0, idle = 0;
  double most = 0, sum = 0;
  for (std::size_t rank = 0; rank < now.size(); ++rank) {
    handlers += now[rank].handlers;
    fresh += now[rank].handlers - previous_[rank].handlers;
    workers += now[rank].workers;
    idle += now[rank].idle_workers;
    const double busy = now[rank].busy_seconds - previous_[rank].busy_seconds;
    most = std::max(most, busy);
    sum += busy;
  }
  const double rate = static_cast<double>(fresh) / std::max(time - before_at_, 1e-9);
  std::string line =
      fmt::format("nacre: {:.1f} s, {} handlers, {}/s, {} of {} workers busy", time,
                  short_number(static_cast<double>(handlers)), short_number(rate), workers - idle, workers);
  if (now.size() > 1 && sum > 0) {
    line += fmt::format(", busiest rank {:.2f} of the mean", most * static_cast<double>(now.size()) / sum);
  }
  if (now.size() > 1) line += fmt::format(", {} of {} ranks answer", answered, now.size());
  previous_ = now;
  before_at_ = time;
  return line;
}

progress_module::progress_module(am_engine& messages, clock& time, std::chrono::nanoseconds duration,
                                 std::function<rank_progress()> look)
    : messages_(messages),
      time_(time),
      started_(time.now()),
      due_(never),
      interval_(std::min<std::chrono::nanoseconds>(duration, between_lines)),
      look_(std::move(look)) {
  messages_.attach_module(*this);
  const bool shows = duration.count() != 0 && messages.rank().value() == 0 && !messages.deferred();
  if (shows && terminal_line::possible()) due_ = started_ + duration;
}

std::chrono::nanoseconds progress_module::poll(thread_context& thread) {
  if (due_ == never) return never;
  const auto now = time_.now();
  if (now < due_) return due_;
  known_.resize(messages_.size());
  answered_.resize(messages_.size());
  known_[0] = look_();
  answered_[0] = true;
  const auto answered = static_cast<std::size_t>(std::count(answered_.begin(), answered_.end(), true));
  const std::string text = teller_.text(known_, answered, std::chrono::duration<double>(now - started_).count());
  if (std::exchange(asked_, true)) line_.show(text);
  std::fill(answered_.begin(), answered_.end(), false);
  for (std::uint32_t rank = 1; rank < messages_.size(); ++rank) {
    messages_.post_to_module<&progress_module::on_question>(thread, rank_id(rank));
  }
  due_ = now + interval_;
  return due_;
}

void progress_module::on_question(context& ctx) {
  messages_.post_to_module<&progress_module::on_answer>(detail::thread_of(ctx), ctx.source(), look_());
}

void progress_module::on_answer(context& ctx, rank_progress rank_progress) {
  const std::size_t rank = ctx.source().value();
  if (rank >= known_.size()) return;  // this rank has not asked
  known_[rank] = rank_progress;
  answered_[rank] = true;
}

}  // namespace nacre
