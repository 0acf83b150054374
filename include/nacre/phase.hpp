// SPDX-License-Identifier: Apache-2.0
// Phases: parts of a program that have a name in the summary, the trace and the report.
#pragma once

#include <cstdint>
#include <string_view>

namespace nacre {

class context;
class runtime;

namespace trace {
class phase_stack;
struct phase_entry;
}  // namespace trace

namespace detail {

/// For the runtime: a phase that has begun, in the list of those of its thread or of a coroutine that waits.
struct open_phase {
  trace::phase_stack* stack = nullptr;  ///< of the thread context that runs it, or has run it last; null: not recorded
  trace::phase_entry* entry = nullptr;  ///< the counts of its name there
  open_phase* outer = nullptr;
  const void* owner = nullptr;  ///< the context or runtime that it was made from
  std::uint64_t begun = 0;      ///< in ticks
  std::uint64_t continued = 0;  ///< in ticks; when it began, or went on after its last wait
  bool runs = false;            ///< it is in the list of `stack`
};

}  // namespace detail

/// A phase of the program, from here to the end of the scope, however the scope is left. Time of the handler or main in
/// it has a name in the summary, the trace and the report; see docs/tracing.md. Phases nest, and end in the reverse
/// order. In a coroutine a phase may live across co_await: time in which the coroutine waits does not count, and the
/// phase goes on with it on whichever worker. So it is with a main that waits. Without --nacre.summary,
/// --nacre.summary_json and --nacre.trace a phase is a call and a branch.
///
///     nacre::phase here(ctx, "adapt");
class [[nodiscard]] phase {
 public:
  /// Begins a phase. `name` is copied. More than 64 bytes are cut off, at the begin of a character; an empty name is
  /// "(unnamed)". A rank tells 255 names apart; all later ones are "(other phases)". The phase must end before the
  /// handler, or main, whose `ctx` or `rt` it is made from.
  phase(context& ctx, std::string_view name);
  phase(runtime& rt, std::string_view name);
  ~phase() {
    if (open_.stack != nullptr) end();
  }
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;

 private:
  void end() noexcept;

  detail::open_phase open_;
};

}  // namespace nacre
