// SPDX-License-Identifier: Apache-2.0
// What a coroutine handler tells the runtime: that it goes on, waits and ends, and what it takes meanwhile.
#include <cstdint>
#include <utility>

#include <nacre/nacre.hpp>

#include "base/forked_child.hpp"
#include "runtime/engine.hpp"
#include "trace/phases.hpp"

namespace nacre::detail {

/// A coroutine ends where no exception may leave, and the end of its access may call functions of the object's class.
void coroutine_finished(engine& core, thread_context& thread, const message_header& request, handler_id handler,
                        double seconds) {
  if (is_forked_child()) [[unlikely]]
    end_forked_child(0);
  if (request.kind == message_kind::object || request.kind == message_kind::everyone) {
    core.messages().commit(thread, [&] {
      core.objects().coroutine_ended(thread, request, *core.messages().handlers().handler(handler.value()), seconds);
    });
  }
  if ((request.flags & flag_uncounted) == 0) thread.counters().done.add(1);
}

void resumption_begins(thread_context& thread, handler_id handler, const message_header& request) {
  thread.running.begin(handler, request.object);
  thread.record_begin(trace::event_kind::resume_begin, handler);
}

void resumption_ended(engine& core, thread_context& thread, std::uint64_t object) {
  thread.running.end();
  thread.record_end();
  coroutine_part& part = thread.part;
  if (part.accounted != 0) thread.counters().handler_ticks.add(std::exchange(part.accounted, 0));
  const double seconds = std::exchange(part.seconds, 0), weighed = std::exchange(part.weighed, 0);
  if (seconds > 0 && object != 0)
    core.objects().clock().note_coroutine_part(thread, object_id::from_value(object), seconds, weighed);
}

void part_begins(coroutine_run& coroutine_run) {
  thread_context& thread = coroutine_run.ctx.current_thread();
  if (coroutine_run.phases != nullptr) [[unlikely]]
    thread.phases->resume(std::exchange(coroutine_run.phases, nullptr));
  const bool always = coroutine_run.ctx.core().objects().clock().times_each_step();
  thread.part.sampled =
      thread.meter.begin(coroutine_part::row_of(coroutine_run.handler().value(), coroutine_run.has_suspended()));
  thread.part.runs = thread.part.sampled || always;
  if (thread.part.runs) thread.part.begin = thread.pool().instant();
}

/// The time up to where it waits first, charges included, is in that of the step which has begun it; what comes then is
/// accounted here.
void part_ends(coroutine_run& coroutine_run) {
  thread_context& thread = coroutine_run.ctx.current_thread();
  if (thread.phases != nullptr) [[unlikely]]
    coroutine_run.phases = thread.phases->suspend(&coroutine_run.ctx);
  coroutine_part& part = thread.part;
  if (coroutine_run.has_suspended()) {
    const double charged = std::exchange(thread.charged, 0);
    coroutine_run.seconds += charged;
    part.seconds += charged;
    part.weighed += charged;
  }
  if (!std::exchange(part.runs, false)) return;
  const std::uint64_t spent = thread.pool().instant() - part.begin;
  const std::uint64_t sampled =
      part.sampled ? thread.meter.measured(
                         coroutine_part::row_of(coroutine_run.handler().value(), coroutine_run.has_suspended()), spent)
                   : 0;
  const bool exact = coroutine_run.ctx.core().messages().deferred();  // by a virtual clock
  const std::uint64_t accounted = exact ? spent : sampled;
  const double tick = thread.pool().seconds_a_tick();
  coroutine_run.seconds += static_cast<double>(accounted) * tick;
  if (!coroutine_run.has_suspended()) return;
  part.accounted += accounted;
  part.seconds += static_cast<double>(spent) * tick;
  part.weighed += static_cast<double>(accounted) * tick;
}

}  // namespace nacre::detail
