// SPDX-License-Identifier: Apache-2.0
// Which threads are the runtime's own.
#pragma once

#include <atomic>

namespace nacre {

class thread_context;
class worker_pool;

/// The pool of this thread; null for threads of the program. A rank's main runs on a thread of its pool. Of all
/// ranks of a simulation it is the same one.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const void* pool_of_this_thread;

[[nodiscard]] inline bool is_thread_of_runtime() noexcept { return pool_of_this_thread != nullptr; }

/// The thread context that this thread acts for at this moment; null for threads of the program. For reports: read by
/// signal handlers of the thread and, under simulation, by the thread that watches it.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::atomic<const thread_context*>
    context_of_this_thread;

/// This thread acts for a thread context, until the scope ends.
class acting_scope {
 public:
  explicit acting_scope(const thread_context& actor) noexcept
      : previous_(context_of_this_thread.load(std::memory_order_relaxed)) {  // the context outlives the scope
    context_of_this_thread.store(&actor, std::memory_order_relaxed);
  }
  ~acting_scope() { context_of_this_thread.store(previous_, std::memory_order_relaxed); }  // as above
  acting_scope(const acting_scope&) = delete;
  acting_scope& operator=(const acting_scope&) = delete;

 private:
  const thread_context* previous_;
};

/// Makes this thread one of a pool, until it ends.
class own_thread {
 public:
  explicit own_thread(const void* pool) noexcept : previous_(pool_of_this_thread) { pool_of_this_thread = pool; }
  ~own_thread() { pool_of_this_thread = previous_; }
  own_thread(const own_thread&) = delete;
  own_thread& operator=(const own_thread&) = delete;

 private:
  const void* previous_;  // a program may run a job inside a job
};

}  // namespace nacre
