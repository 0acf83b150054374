// SPDX-License-Identifier: Apache-2.0
// Signals that ask the job for a last image, behind which it ends.
#include "runtime/last_image.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/print_error.hpp"
#include "join/launch/image_wish.hpp"
#include "runtime/command_text.hpp"
#include "runtime/job.hpp"

namespace nacre {
namespace {

constexpr int signal_code_base = 128;             // as shells do
constexpr std::chrono::seconds for_rank_zero{1};  // in which it tells, and the others need not

constexpr char wish_byte = 1, end_byte = 0;

std::atomic<int> pipe_of_process{-1};
std::atomic<pid_t> asked_process{0};  // that the signal is for
std::atomic<bool> has_image{false};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

/// A process that a rank has forked has the handler, and no part in the job.
bool is_for_child(int signal) noexcept {
  if (asked_process.load() == ::getpid()) return false;
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  return true;
}

extern "C" void note_wish(int signal) {
  if (is_for_child(signal)) return;
  launch::wish_last_image(signal);
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(pipe_of_process.load(std::memory_order_relaxed), &wish_byte, 1);
  errno = error;
}
extern "C" void note_nothing(int signal) { is_for_child(signal); }

/// Whether the signal does what the system has planned, so that nobody else misses it.
bool is_free(int signal) noexcept {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

void set_handler(int signal, void (*handler)(int), int flags) noexcept {
  struct sigaction wanted {};
  wanted.sa_handler = handler;
  wanted.sa_flags = flags;
  ::sigaction(signal, &wanted, nullptr);
}

}  // namespace

int last_image_signal_of(const config& configuration) {
  const std::string& name = configuration.get_string("checkpoint.signal");
  return name == "TERM" ? SIGTERM : name == "USR1" ? SIGUSR1 : name == "USR2" ? SIGUSR2 : 0;
}

void last_image_signals::note_image() noexcept { has_image.store(true, std::memory_order_relaxed); }  // a hint

last_image_signals::last_image_signals(const config& configuration, bool first)
    : grace_(configuration.get_duration("checkpoint.grace")), first_(first) {
  const int signal = last_image_signal_of(configuration);
  if (configuration.get_string("checkpoint.folder").empty() || signal == 0 || !is_free(signal)) return;
  has_image = false;
  asked_process = ::getpid();
  if (!mark_of_job().empty()) {
    signal_ = signal;
    set_handler(signal, &note_nothing, SA_RESTART);
    return;
  }
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;  // the signal acts as ever
  told_ = net::unique_fd(ends[0]);
  tells_ = net::unique_fd(ends[1]);
  pipe_of_process = ends[1];
  sigset_t all, signals;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &signals);  // signals come to the other threads
  watcher_ = std::thread([this] { watch(); });
  ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
  signal_ = signal;
  set_handler(signal, &note_wish, SA_RESTART | static_cast<int>(SA_RESETHAND));
}

last_image_signals::~last_image_signals() {
  if (signal_ == 0) return;
  struct sigaction now {};
  ::sigaction(signal_, nullptr, &now);
  if (now.sa_handler == &note_wish || now.sa_handler == &note_nothing) set_handler(signal_, SIG_DFL, 0);
  pipe_of_process = -1;
  if (!watcher_.joinable()) return;
  [[maybe_unused]] const ssize_t told = ::write(tells_.get(), &end_byte, 1);
  watcher_.join();
}

void last_image_signals::watch() const {
  pollfd watched{.fd = told_.get(), .events = POLLIN, .revents = 0};
  while (::poll(&watched, 1, -1) < 0) continue;
  char byte = end_byte;
  if (::read(told_.get(), &byte, 1) != 1 || byte != wish_byte) return;
  const int signal = launch::last_image_signal();
  auto wait = std::chrono::ceil<std::chrono::milliseconds>(grace_);
  if (!first_) wait += for_rank_zero;
  if (first_) {
    print_error(
        "nacre: {}: an image is awaited for at most {} s, and the job ends behind it; a second signal ends it\n",
        ::strsignal(signal), std::chrono::duration<double>(grace_).count());
  }
  if (::poll(&watched, 1, static_cast<int>(wait.count())) == 0) end_process(signal);
}

void last_image_signals::end_process(int signal) const {
  std::fflush(stdout);
  const bool again = has_image.load(std::memory_order_relaxed);  // a hint
  print_error("nacre: {}: no image came within {} s, and the job ends{}\n", ::strsignal(signal),
              std::chrono::duration<double>(grace_).count(),
              again ? "; it can go on from an older one" : ", as it has none");
  let_launcher_read();
  std::_Exit(again ? exit_behind_image : signal_code_base + signal);
}

}  // namespace nacre
