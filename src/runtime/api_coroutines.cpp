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
void coroutine_finished(engine& core, thread_context& on, const message_header& request, handler_id handler,
                        double seconds) {
  if (is_forked_child()) [[unlikely]]
    end_forked_child(0);
  if (request.kind == message_kind::object || request.kind == message_kind::everyone) {
    core.messages().commit(on, [&] {
      core.objects().coroutine_ended(on, request, *core.messages().handlers().handler(handler.value()), seconds);
    });
  }
  if ((request.flags & flag_uncounted) == 0) on.counters().done.add(1);
}

void resumption_begins(thread_context& on, handler_id handler, const message_header& request) {
  on.running.begin(handler, request.object);
  on.record_begin(trace::event_kind::resume_begin, handler);
}

void resumption_ended(engine& core, thread_context& on, std::uint64_t object) {
  on.running.end();
  on.record_end();
  coroutine_part& part = on.part;
  if (part.accounted != 0) on.counters().handler_ticks.add(std::exchange(part.accounted, 0));
  const double seconds = std::exchange(part.seconds, 0);
  if (seconds > 0 && object != 0)
    core.objects().activation().note_coroutine_part(object_id::from_value(object), seconds);
}

void part_begins(coroutine_run& of) {
  thread_context& on = of.ctx.current_thread();
  if (of.phases != nullptr) [[unlikely]]
    on.phases->resume(std::exchange(of.phases, nullptr));
  const bool always = of.ctx.core().objects().activation().times_each_step();
  on.part.sampled = on.meter.begin(coroutine_part::row_of(of.handler().value(), of.has_suspended()));
  on.part.runs = on.part.sampled || always;
  if (on.part.runs) on.part.begin = on.pool().instant();
}

/// The time up to where it waits first is in that of the step which has begun it; what comes then is accounted here.
void part_ends(coroutine_run& of) {
  thread_context& on = of.ctx.current_thread();
  if (on.phases != nullptr) [[unlikely]]
    of.phases = on.phases->suspend(&of.ctx);
  coroutine_part& part = on.part;
  if (!std::exchange(part.runs, false)) return;
  const std::uint64_t spent = on.pool().instant() - part.begin;
  const std::uint64_t sampled =
      part.sampled ? on.meter.measured(coroutine_part::row_of(of.handler().value(), of.has_suspended()), spent) : 0;
  const bool exact = of.ctx.core().messages().deferred();  // by a virtual clock
  const std::uint64_t accounted = exact ? spent : sampled;
  const double tick = on.pool().seconds_a_tick();
  of.seconds += static_cast<double>(accounted) * tick;
  if (!of.has_suspended()) return;
  const double charged = std::exchange(on.charged, 0);
  of.seconds += charged;
  part.accounted += accounted;
  part.seconds += static_cast<double>(spent) * tick + charged;
}

}  // namespace nacre::detail
