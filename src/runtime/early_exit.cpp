// SPDX-License-Identifier: Apache-2.0
// Ends a process safely that calls exit while ranks of a job live in it.
#include "runtime/early_exit.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/forked_child.hpp"
#include "exec/own_thread.hpp"
#include "runtime/job.hpp"

namespace nacre {
namespace {

std::atomic<int> jobs{0};
std::atomic<pid_t> process{0};  // the process that runs the jobs
std::atomic<int> owed{0};

/// Called by exit, before objects are destroyed that existed when the first job began.
void end_at_exit(int code, void*) {
  if (is_forked_child()) end_forked_child(code & 0xff);
  if (process != ::getpid()) return;
  if (jobs == 0) {
    if (owed == 0 || (code & 0xff) != 0) return;
    std::fflush(nullptr);
    std::_Exit(owed);
  }
  std::fflush(stdout);
  std::fprintf(stderr,
               "nacre: exit(%d) was called before the job was over (the other threads of this process are at work): "
               "return from main, or throw; the job ends\n",
               code);
  let_launcher_read();
  std::_Exit((code & 0xff) == 0 ? 1 : code);
}

void after_fork() {
  if (jobs == 0) return;
  mark_forked_child();
  pool_of_this_thread = nullptr;  // so that engine::expect_own_thread looks further
}

}  // namespace

early_exit::early_exit() noexcept {
  static const int registered = ::on_exit(&end_at_exit, nullptr);
  static const int watched = ::pthread_atfork(nullptr, nullptr, &after_fork);
  static_cast<void>(registered);  // if one fails for want of memory, exit acts as usual
  static_cast<void>(watched);
  process = ::getpid();
  owed = 0;
  ++jobs;
}

early_exit::~early_exit() { --jobs; }

void early_exit::owe(int code) noexcept { owed = code; }

}  // namespace nacre
