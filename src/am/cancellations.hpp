// SPDX-License-Identifier: Apache-2.0
// Handlers learn that their callers have given up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/runtime.hpp>

#include "am/watched_calls.hpp"

namespace nacre {

class am_engine;

/// Answers context::cancelled. A call of this rank is looked up where it waits (pending_calls). The first question
/// about a call of another rank sends that rank, which the header of the message names, `watch`; it answers with the
/// news of the call (watched_calls), some at once, the others later. All these messages are uncounted: they start no
/// user code, and the job waits for none of them. Without a question there is no message at all.
///
/// | the caller's rank | `watch` comes | the call is given up | the reply comes |
/// |---|---|---|---|
/// | the call waits | notes the watcher | tells watchers: given up | tells watchers: over |
/// | given up | notes the watcher, tells it: given up | - | tells watchers: over |
/// | no such call | tells it: over | - | - |
///
/// A handler may compute for long on the only worker. The news come nevertheless, by the fallback poller, or by the
/// poll loop's own thread (exec/thread_pool).
class cancellations {
 public:
  explicit cancellations(am_engine& messages) noexcept : messages_(messages) {}

  /// Whether the caller has given up the call that `request` is; its handler runs here, on the thread of `thread`.
  [[nodiscard]] bool is_given_up(thread_context& thread, const message_header& request);
  /// Tells ranks that run a call of this rank. `thread`: the thread context of the calling thread.
  void tell(thread_context& thread, const std::vector<rank_id>& watchers, std::uint64_t call, call_news news);
  /// As tell that a call is given up, from a thread without a known thread context: the poll loop does it soon. Until
  /// then the job is not quiet.
  void tell_soon(thread_context& thread, std::vector<rank_id> watchers, std::uint64_t call);
  /// The calls of a rank that has died count as given up.
  void note_gone(rank_id rank) { watched_.note_gone(rank); }
  /// Calls of other ranks that are watched here. For tests and people.
  [[nodiscard]] std::size_t count() const { return watched_.count(); }

  // For the modules of other ranks, inside the poll loop.
  void on_watch(context& ctx, std::uint64_t call);
  void on_news(context& ctx, std::uint64_t call, call_news news);

 private:
  am_engine& messages_;
  watched_calls watched_;
};

}  // namespace nacre
