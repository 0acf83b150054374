// SPDX-License-Identifier: Apache-2.0
// The state of a coroutine handler that runs or waits.
#pragma once

#include <coroutine>
#include <cstdint>

#include <nacre/phase.hpp>
#include <nacre/runtime.hpp>

namespace nacre::detail {

class coroutine_run;
/// Hands the work that continues a coroutine to the scheduler.
void make_runnable(engine& core, thread_context& thread, work& item);
/// Likewise, behind other ready work.
void make_runnable_last(engine& core, thread_context& thread, work& item);
/// For the trace, reports and loads: a coroutine that has waited continues on the thread, and has then suspended
/// again or ended.
void resumption_begins(thread_context& thread, handler_id handler, const message_header& request);
void resumption_ended(engine& core, thread_context& thread, std::uint64_t object);
/// For loads and phases: a part of a coroutine begins on its thread, up to where it suspends or ends.
void part_begins(coroutine_run& coroutine_run);
void part_ends(coroutine_run& coroutine_run);

/// The state of a coroutine handler that outlives its message: the context, and the request to answer. It deletes
/// itself when the coroutine ends.
class coroutine_run {
 public:
  coroutine_run(engine& core, thread_context& thread, const message_header& request, handler_id handler) noexcept
      : ctx(core, thread, request), unwinding_(*this), request_(request), handler_(handler) {
    ctx.set_cause(request_);
  }
  virtual ~coroutine_run() = default;

  context ctx;
  message_ptr kept;  ///< the message that parameters of the coroutine are views into; null if there are none

  /// Continues the coroutine on the thread context `thread`.
  void resume(std::coroutine_handle<> suspended, thread_context& thread) {
    ctx.move_to(thread);
    resumption_begins(thread, handler_, request_);
    part_begins(*this);
    engine& core = ctx.core();
    const std::uint64_t object = request_.object;
    suspended.resume();  // may delete this object
    resumption_ended(core, thread, object);
  }

  /// The header of the message that started the coroutine, and its handler.
  [[nodiscard]] const message_header& request() const noexcept { return request_; }
  [[nodiscard]] handler_id handler() const noexcept { return handler_; }

  /// Whether a coroutine that found all its results ready must now let other work run. Without this, a coroutine
  /// that polls memory of its own rank could keep its worker from the work that changes the memory.
  [[nodiscard]] bool must_yield() noexcept { return ++ready_in_a_row_ % ready_in_a_row_max == 0; }

  /// Returns the coroutine to continue when one of several that await each other hands control to `next`. Usually that
  /// is `next`. A compiler that does not optimise nests these transfers on the stack, so after every `transfers_max` of
  /// them the scheduler continues `next` on an empty stack.
  [[nodiscard]] std::coroutine_handle<> transfer_to(std::coroutine_handle<> next) {
    if (++transfers_ % transfers_max != 0) return next;
    suspends();
    unwinding_.next_coroutine = next;
    make_runnable(ctx.core(), ctx.current_thread(), unwinding_);  // another thread may have ended it then
    return std::noop_coroutine();
  }

  /// The coroutine is about to suspend, and another thread may resume it from then on.
  void suspends() {
    part_ends(*this);
    suspended_ = true;
  }
  [[nodiscard]] bool has_suspended() const noexcept { return suspended_; }
  /// Seconds that its parts have taken so far; an estimate.
  double seconds = 0;
  open_phase* phases = nullptr;  ///< the innermost phase of the coroutine while it waits; null: none

  /// The outermost coroutine has ended on the thread context of `ctx`: replies, releases the object, and deletes this.
  virtual void finish() = 0;

 private:
  /// Continues a coroutine where the scheduler runs it.
  struct unwinding final : work {
    explicit unwinding(coroutine_run& subject) noexcept : work(&run_next), run(subject) {}
    static void run_next(work& self, thread_context& thread) {
      auto& own = static_cast<unwinding&>(self);
      own.run.resume(own.next_coroutine, thread);
    }
    coroutine_run& run;
    std::coroutine_handle<> next_coroutine;
  };

  static constexpr std::uint32_t ready_in_a_row_max = 64;
  static constexpr std::uint32_t transfers_max = 128;
  std::uint32_t ready_in_a_row_ = 0;
  std::uint32_t transfers_ = 0;
  unwinding unwinding_;
  bool suspended_ = false;

 protected:
  message_header request_;
  handler_id handler_;
};

}  // namespace nacre::detail
