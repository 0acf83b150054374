// SPDX-License-Identifier: Apache-2.0
// Signals, and telling the other ranks.
#include "runtime/stop_requests.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "join/launch/image_wish.hpp"

namespace nacre {
namespace {

constexpr std::uint32_t told_by_each = 4;  // of a rank in the tree by which ranks hear of a signal

std::atomic<int> signal_of_process{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes it");

extern "C" void note_stop_signal(int signal) {
  signal_of_process.store(signal, std::memory_order_relaxed);  // only a number
}

/// Of this process: a signal to it, or one that the launcher tells of.
int signal_here() noexcept {
  const int signal = signal_of_process.load(std::memory_order_relaxed);  // only a number
  return signal != 0 ? signal : launch::last_image_signal();
}

}  // namespace

stop_requests::stop_requests(am_engine& messages) : messages_(messages) { messages_.attach_module(*this); }

/// A signal that is ignored, as under nohup, stays so. The second signal of a kind finds the system's way again.
void stop_requests::handle_signals() {
  static std::once_flag once;  // the ranks of a process share its signals
  std::call_once(once, [] {
    for (const int signal : {SIGTERM, SIGINT}) {
      struct sigaction now {};
      if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
      struct sigaction wanted {};
      wanted.sa_handler = &note_stop_signal;
      wanted.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
      ::sigaction(signal, &wanted, nullptr);
    }
  });
  handled_.store(true, std::memory_order_relaxed);
}

bool stop_requests::requested() const noexcept {
  return handled() && (signal_here() != 0 || signal_.load(std::memory_order_relaxed) != 0);
}

void stop_requests::tell(thread_context& thread) {
  told_ = true;
  const int signal = signal_here();
  if (signal == 0) return;  // another rank has told this one
  messages_.post_to_module<&stop_requests::on_stop>(thread, rank_id{0}, signal);
}

/// Rank 0 says so, and tells all, down a tree.
void stop_requests::on_stop(context& ctx, int signal) {
  signal_.store(signal, std::memory_order_relaxed);
  if (std::exchange(passed_on_, true)) return;
  if (messages_.rank().value() == 0) {
    std::fprintf(stderr, "nacre: %s: the program has been asked to stop\n", ::strsignal(signal));
  }
  thread_context& thread = detail::thread_of(ctx);
  const std::uint64_t first = std::uint64_t{messages_.rank().value()} * told_by_each + 1;
  for (std::uint64_t child = first; child < first + told_by_each && child < messages_.size(); ++child) {
    messages_.post_to_module<&stop_requests::on_stop>(thread, rank_id{static_cast<std::uint32_t>(child)}, signal);
  }
}

}  // namespace nacre
