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
#include "join/net/socket.hpp"
#include "runtime/job.hpp"

namespace nacre {
namespace {

std::atomic<int> jobs{0};
std::atomic<pid_t> process{0};  // the process that runs the jobs
std::atomic<int> owed{0};
std::atomic<bool> ending{false};

void end_at_exit(int code, void*);

/// False if there is no memory; then exit acts as usual.
bool register_once_more() noexcept { return ::on_exit(&end_at_exit, nullptr) == 0; }

/// Several ranks of one process may call exit at once, and each call takes the next of the registered functions: as
/// many wait here as are registered, and each makes up for itself, so that no call gets to the objects below.
constexpr int exits_at_once = 64;

bool register_for_all() noexcept {
  for (int each = 0; each < exits_at_once; ++each) {
    if (!register_once_more()) return false;
  }
  return true;
}

/// Called by exit, before objects are destroyed that existed when the first job began.
void end_at_exit(int code, void*) {
  if (is_forked_child()) end_forked_child(code & 0xff);
  if (process != ::getpid()) return;
  if (jobs == 0) {
    if (owed == 0 || (code & 0xff) != 0) return;
    std::fflush(nullptr);
    std::_Exit(owed);
  }
  register_once_more();
  if (ending.exchange(true)) {
    for (;;) ::pause();  // until the first call has ended the process
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
  net::close_all_in_child();      // else peers would see the rank's end only at the child's
  pool_of_this_thread = nullptr;  // so that engine::expect_own_thread looks further
}

}  // namespace

early_exit::early_exit() noexcept {
  static const bool registered = register_for_all();
  static const int watched = ::pthread_atfork(nullptr, nullptr, &after_fork);
  static_cast<void>(registered);
  static_cast<void>(watched);
  process = ::getpid();
  owed = 0;
  ++jobs;
}

early_exit::~early_exit() { --jobs; }

void early_exit::owe(int code) noexcept { owed = code; }

}  // namespace nacre
