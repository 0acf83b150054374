// SPDX-License-Identifier: Apache-2.0
// The launcher's agent on a host, in the background: serves its ranks until they or the launcher have ended.
#include "tool/hosts/serving_agent.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <span>
#include <utility>
#include <variant>

#include <nacre/error.hpp>

#include "join/net/wait.hpp"

namespace nacre::tool {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds agent_tick{1000};
constexpr milliseconds last_output_time{500};  // for output of processes that outlive their rank
constexpr std::size_t read_bytes = 16 * 1024;

unique_fd watch_children() {
  sigset_t watched;
  ::sigemptyset(&watched);
  ::sigaddset(&watched, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return unique_fd(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

serving_agent::serving_agent(const rank_launch_spec& rank_spec, std::vector<std::uint32_t> ranks,
                             net::peer_candidate launcher)
    : rank_spec_(rank_spec),
      ranks_(std::move(ranks)),
      launcher_(std::move(launcher.socket)),
      signals_(watch_children()) {
  stream_.received(launcher.leftover);
}

int serving_agent::run(const host_ready& host) {
  send(host);
  while (launcher_) {
    wait();
    hear_launcher();
    reap();
    pump_input();
    pump_output();
    finish_when_done();
    flush();
  }
  return EXIT_SUCCESS;  // the destructor of group_ kills ranks that still run
}

void serving_agent::wait() const {
  const short events = static_cast<short>(POLLIN | (stream_.outgoing().empty() ? 0 : POLLOUT));
  std::vector<pollfd> watched{{.fd = launcher_.get(), .events = events, .revents = 0},
                              {.fd = signals_.get(), .events = POLLIN, .revents = 0},
                              {.fd = input_text_.empty() ? -1 : input_.get(), .events = POLLOUT, .revents = 0}};
  for (const source& each : sources_) {
    if (ahead_ < output_window) watched.push_back({.fd = each.pipe.get(), .events = POLLIN, .revents = 0});
  }
  auto until = steady_clock::now() + agent_tick;
  if (all_ended_ && !done_ && ahead_ < output_window) until = std::min(until, *all_ended_ + last_output_time);
  net::wait_until(watched, until);
}

void serving_agent::hear_launcher() {
  std::array<std::byte, 16 * 1024> buffer;
  std::ptrdiff_t received = 0;
  while ((received = net::receive_some(launcher_.get(), buffer.data(), buffer.size())) > 0) {
    stream_.received(std::span(buffer.data(), static_cast<std::size_t>(received)));
  }
  auto m = stream_.pop();
  for (; m && *m; m = stream_.pop()) apply(**m);
  if (!m || received < 0) launcher_.reset();
}

void serving_agent::apply(const host_message& m) {
  if (std::holds_alternative<start_ranks>(m) && !started_) start();
  if (const auto* taken = std::get_if<output_taken>(&m)) ahead_ -= std::min<std::size_t>(ahead_, taken->bytes);
  if (const auto* text = std::get_if<input_text>(&m)) take_input(text->text);
  if (const auto* signal = std::get_if<signal_ranks>(&m)) group_.signal(signal->number);
  if (std::holds_alternative<job_ends>(m)) group_.job_ends();
  if (std::holds_alternative<output_closed>(m)) {
    std::erase_if(sources_, [](const source& each) { return !each.to_error; });
  }
}

void serving_agent::start() {
  started_ = true;
  try {
    for (const std::uint32_t rank : ranks_) {
      std::array<int, 2> ends{-1, -1};
      if (rank == 0 && ::pipe2(ends.data(), O_CLOEXEC) != 0) throw setup_error("cannot make a pipe");
      const unique_fd read_end(ends[0]);
      if (rank == 0) {
        input_.reset(ends[1]);
        ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
      }
      rank_process started = group_.start(rank, rank_spec_, read_end.get());
      sources_.push_back({.rank = rank, .to_error = false, .pipe = std::move(started.output)});
      sources_.push_back({.rank = rank, .to_error = true, .pipe = std::move(started.error)});
    }
  } catch (const setup_error& error) {
    trouble_ = true;
    group_.signal(SIGKILL);
    send(host_failed{.problem = error.what()});
  }
}

/// An empty text is the end of standard input.
void serving_agent::take_input(std::string text) {
  if (text.empty()) return input_.reset();
  input_text_ = std::move(text);
  if (!input_) send(input_taken{.more = false});
}

void serving_agent::pump_input() {
  if (input_text_.empty() || !input_) return;
  const ssize_t written = ::write(input_.get(), input_text_.data(), input_text_.size());
  if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (written < 0) {  // the rank has closed its input, or has ended
    input_.reset();
    input_text_.clear();
    return send(input_taken{.more = false});
  }
  input_text_.erase(0, static_cast<std::size_t>(written));
  if (input_text_.empty()) send(input_taken{.more = true});
}

void serving_agent::pump_output() {
  for (auto each = sources_.begin(); each != sources_.end() && ahead_ < output_window;) {
    std::string text(read_bytes, '\0');
    const ssize_t bytes = ::read(each->pipe.get(), text.data(), text.size());
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
      ++each;
      continue;
    }
    if (bytes <= 0) {
      each = sources_.erase(each);
      continue;
    }
    text.resize(static_cast<std::size_t>(bytes));
    each->owed -= std::min(each->owed, text.size());
    ahead_ += text.size();
    send(rank_output{.rank = each->rank, .to_error = each->to_error, .text = std::move(text)});
    ++each;
  }
}

void serving_agent::reap() {
  signalfd_siginfo signal_info{};
  bool child = false;
  while (::read(signals_.get(), &signal_info, sizeof signal_info) == sizeof signal_info) child = true;
  if (!child) return;
  pump_output();  // a rank's output is sent before its end
  std::vector<rank_end> ends;
  group_.reap(ends);
  for (const rank_end& each : ends) send(rank_ended{.rank = each.rank, .outcome = each.outcome});
  if (started_ && group_.running() == 0) note_end();
}

void serving_agent::note_end() {
  all_ended_ = steady_clock::now();
  for (source& each : sources_) {
    int bytes = 0;
    if (::ioctl(each.pipe.get(), FIONREAD, &bytes) == 0) each.owed = static_cast<std::size_t>(bytes);
  }
}

/// All that the ranks have written is passed on, however long the launcher has no room for it.
void serving_agent::finish_when_done() {
  if (!all_ended_ || done_ || trouble_) return;
  if (std::ranges::any_of(sources_, [](const source& each) { return each.owed > 0; })) return;
  if (!sources_.empty() && steady_clock::now() < *all_ended_ + last_output_time) return;
  done_ = true;
  send(host_done{});
}

void serving_agent::send(const host_message& m) {
  stream_.push(m);
  flush();
}

void serving_agent::flush() {
  while (launcher_ && !stream_.outgoing().empty()) {
    const auto bytes = stream_.outgoing();
    const std::ptrdiff_t sent = net::send_some(launcher_.get(), bytes.data(), bytes.size());
    if (sent <= 0) return;  // hear_launcher sees the error when it reads
    stream_.sent(static_cast<std::size_t>(sent));
  }
}

}  // namespace nacre::tool
