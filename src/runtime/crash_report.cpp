// SPDX-License-Identifier: Apache-2.0
// Handlers of signals, in functions that are safe there (signal-safety(7)): no memory, no locks, no stdio.
#include "runtime/crash_report.hpp"

#include <sched.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <string_view>

#include "am/handler_table.hpp"
#include "base/forked_child.hpp"
#include "base/sanitized.hpp"
#include "exec/own_thread.hpp"
#include "exec/thread_context.hpp"
#include "runtime/engine.hpp"

namespace nacre {
namespace {

struct crash_signal {
  int number;
  std::string_view name;
};
constexpr std::array<crash_signal, 5> crash_signals{
    {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}}};
constexpr std::uintptr_t stack_reach = std::size_t{64} << 10;  // of one frame beyond the end of a stack
constexpr std::time_t patience_seconds = 2;                    // with another thread that writes the line

/// The actions that were there before, in the order of crash_signals. Written before the handlers are set.
std::array<struct sigaction, crash_signals.size()> previous_actions;
std::array<bool, crash_signals.size()> is_set;    // this file's handler; under the mutex of the jobs
std::array<bool, crash_signals.size()> replaced;  // by a later handler, which may call this one; under the mutex
std::array<std::atomic<bool>, crash_signals.size()> used_up;  // the action before was for one signal (SA_RESETHAND)
std::atomic<bool> is_told{false};                             // a thread writes the line, or has written it
std::atomic<bool> is_written{false};
std::atomic<pid_t> teller{0};  // the thread that writes it
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

/// A line of bounded length.
class line {
 public:
  line& operator<<(std::string_view text) noexcept {
    const std::size_t bytes = std::min(text.size(), text_.size() - length_);
    std::copy_n(text.data(), bytes, text_.data() + length_);
    length_ += bytes;
    return *this;
  }
  line& operator<<(std::uint64_t number) noexcept { return write_number(number, 10); }
  line& write_number(std::uint64_t number, unsigned base) noexcept {
    std::array<char, 20> digits{};
    std::size_t first = digits.size();
    do {
      digits[--first] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    return *this << std::string_view(digits.data() + first, digits.size() - first);
  }
  void write() noexcept {
    if (length_ == text_.size()) --length_;
    text_[length_++] = '\n';
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_.data(), length_);
  }

 private:
  std::array<char, 1024> text_;
  std::size_t length_ = 0;
};

[[nodiscard]] std::uintptr_t stack_pointer_of(const void* machine) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.sp);
#else
  static_cast<void>(machine);
  return 0;
#endif
}

/// Whether the kernel has raised the signal because of an instruction of this thread.
[[nodiscard]] bool is_fault(const siginfo_t& details) noexcept { return details.si_code > 0; }

void tell_cause(line& text, int signal, const siginfo_t& details, const void* machine) noexcept {
  if (!is_fault(details)) {
    if (details.si_code == SI_USER && details.si_pid != ::getpid())
      text << " (sent by process " << static_cast<std::uint64_t>(details.si_pid) << ")";
    return;
  }
  if (signal != SIGSEGV && signal != SIGBUS) return;
  const auto address = reinterpret_cast<std::uintptr_t>(details.si_addr);
  const std::uintptr_t stack = stack_pointer_of(machine);
  text << " (address 0x";
  text.write_number(address, 16);
  const bool overflow = stack != 0 && address + stack_reach > stack && address < stack + stack_reach;
  text << (overflow ? ", at the end of the stack: too deep a recursion, or too large a local variable)" : ")");
}

void tell_object(line& text, const thread_context& actor, object_id object) noexcept {
  if (!object.valid()) return;
  if (!object.is_element()) {
    text << " on object " << std::uint64_t{object.birth().value()} << ":" << object.index();
    return;
  }
  const auto element = actor.messages().core().objects().arrays().numbers_of(object);
  if (!element) {
    text << " on an element of an array";
    return;
  }
  text << " on element [";
  for (std::size_t each = 0; each < element->place.dimensions(); ++each) {
    if (each != 0) text << ", ";
    text << static_cast<std::uint64_t>(element->place[each]);
  }
  text << "] of array " << element->array;
}

void tell_place(line& text, const thread_context& actor) noexcept {
  const running_handler::names now = actor.running.read();
  const detail::handler_info* const row = handler_table::get().handler(now.handler);
  if (row != nullptr && now.handler != 0) {
    text << " in the handler " << row->name;
    tell_object(text, actor, object_id::from_value(now.object));
  } else if (actor.role() == thread_role::application) {
    text << " in main";
  } else {
    text << " outside of handlers";
  }
  text << " on rank " << std::uint64_t{actor.messages().rank().value()};
  if (actor.role() == thread_role::worker) text << ", worker " << std::uint64_t{actor.id().value()};
  if (actor.role() == thread_role::progress) text << ", in the poll loop";
}

void tell(int signal, const siginfo_t& details, const void* machine) noexcept {
  line text;
  text << "nacre: ";
  const auto* const known = std::find_if(crash_signals.begin(), crash_signals.end(),
                                         [&](const crash_signal& each) { return each.number == signal; });
  text << known->name;
  tell_cause(text, signal, details, machine);
  if (is_forked_child()) {
    text << " in a process that a rank has forked";
  } else if (const thread_context* const actor = context_of_this_thread.load(std::memory_order_relaxed)) {
    tell_place(text, *actor);  // the thread's own variable
  } else {
    text << " in a thread that is not the runtime's";
  }
  text.write();
}

/// Another thread's line must not be cut off by the end of the process. Bounded, as nobody may read that line.
void wait_for_line() noexcept {
  timespec begin{}, now{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    ::sched_yield();
    ::clock_gettime(CLOCK_MONOTONIC, &now);
  } while (!is_written && now.tv_sec - begin.tv_sec < patience_seconds);
}

void pass_on(int signal, siginfo_t* details, void* machine) noexcept {
  std::size_t index = 0;
  while (crash_signals[index].number != signal) ++index;
  const struct sigaction& next = previous_actions[index];
  const bool has_function = (next.sa_flags & SA_SIGINFO) != 0 || next.sa_handler != SIG_DFL;
  const bool is_over = (next.sa_flags & static_cast<int>(SA_RESETHAND)) != 0 && used_up[index].exchange(true);
  if (!has_function || is_over) {
    struct sigaction system {};
    system.sa_handler = SIG_DFL;
    ::sigaction(signal, &system, nullptr);
    // A fault happens again when this handler returns; a signal that was sent has to be sent again.
    if (!is_fault(*details)) ::raise(signal);
    return;
  }
  if ((next.sa_flags & SA_SIGINFO) != 0) return next.sa_sigaction(signal, details, machine);
  next.sa_handler(signal);
}

extern "C" void tell_crash(int signal, siginfo_t* details, void* machine) {
  const int problem = errno;
  if (!is_told.exchange(true)) {
    teller = ::gettid();
    tell(signal, *details, machine);
    is_written = true;
  } else if (!is_written && teller != ::gettid()) {
    wait_for_line();
  }
  errno = problem;
  pass_on(signal, details, machine);
}

/// Whether an action is this file's. A sanitizer may hide the function that it calls, so the flags do not matter.
[[nodiscard]] bool is_own(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &tell_crash;
}

struct watched_jobs_of_process {
  std::mutex mutex;
  int count = 0;
};
watched_jobs_of_process& watched_jobs() noexcept {
  static watched_jobs_of_process all;
  return all;
}

}  // namespace

crash_report::crash_report() noexcept {
  if (tests::thread_sanitized) return;
  const std::scoped_lock lock(watched_jobs().mutex);
  if (watched_jobs().count++ != 0) return;
  static_cast<void>(handler_table::get());  // so that a handler need not make it
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    const int signal = crash_signals[index].number;
    struct sigaction known {};
    if (replaced[index] || ::sigaction(signal, nullptr, &known) != 0 || is_own(known)) continue;
    if ((known.sa_flags & SA_SIGINFO) == 0 && known.sa_handler == SIG_IGN) continue;
    previous_actions[index] = known;
    is_set[index] = true;
    used_up[index] = false;
    struct sigaction wanted {};
    wanted.sa_sigaction = &tell_crash;
    wanted.sa_mask = known.sa_mask;
    wanted.sa_flags = SA_SIGINFO | SA_ONSTACK | (known.sa_flags & (SA_NODEFER | static_cast<int>(SA_RESTART)));
    ::sigaction(signal, &wanted, nullptr);
  }
}

crash_report::~crash_report() {
  if (tests::thread_sanitized) return;
  const std::scoped_lock lock(watched_jobs().mutex);
  if (--watched_jobs().count != 0) return;
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    struct sigaction known {};
    const int signal = crash_signals[index].number;
    if (!is_set[index] || ::sigaction(signal, nullptr, &known) != 0) continue;
    is_set[index] = false;
    replaced[index] = !is_own(known);
    if (!replaced[index]) ::sigaction(signal, &previous_actions[index], nullptr);
  }
}

}  // namespace nacre
