// SPDX-License-Identifier: Apache-2.0
// How long the steps of an object take: for the load of a rank, and for balancers.
#include "mobile/object/step_clock.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace nacre {

namespace {

// A step that seems so much longer than its object's messages usually are, and so long at all, may have lost its
// processor: balancers choose the heaviest objects, so they would move those that were measured wrongly.
constexpr double doubtful_times = 16;
constexpr double doubtful_seconds = 100e-6;

/// 0 for an object that cannot be packed, which is allowed as long as it leaves no process.
std::size_t packed_size_or_none(const detail::object_type& type, void* object, object_id id,
                                const object_names& names) {
  try {
    return packed_size_of(type, object, id, names);
  } catch (const detail::unpackable_value&) {
    return 0;
  }
}

}  // namespace

step_clock::step_time step_clock::begin(thread_context& thread, const message* first) const {
  step_time time{};
  time.exact = messages_.deferred();  // a virtual clock costs nothing to read
  time.handler = first != nullptr ? first->header.handler : 0;
  time.sampled = time.exact || thread.meter.begin(time.handler);
  time.measured = time.sampled || observe_step_;
  if (!time.measured) return time;
  if (first != nullptr) thread.note_size(size_or_least(*first));
  time.begin = messages_.pool().instant();
  return time;
}

void step_clock::end(object_entry& entry, thread_context& thread, const step_time& time, const step_result& result) {
  const double charged = std::exchange(thread.charged, 0);
  double seconds = charged, accounted = charged;
  std::uint64_t now = 0;
  if (time.measured) {
    now = messages_.pool().instant();
    const std::uint64_t spent = now - time.begin;
    if (time.sampled) {
      const std::uint64_t ticks = time.exact ? spent : thread.meter.measured(time.handler, spent);
      thread.counters().handler_ticks.add(ticks);
      accounted += static_cast<double>(ticks) * messages_.pool().seconds_a_tick();
    }
    seconds += static_cast<double>(spent) * messages_.pool().seconds_a_tick();
  }
  if (result.run == 0) return;
  if (record_.is_open() && accounted > 0)
    record_.note(thread.id().value(), entry.id, accounted, now != 0 ? now : messages_.pool().instant());
  if (observe_step_) {
    const detail::object_type& type = *messages_.handlers().type(entry.type);
    const std::size_t bytes = result.ours ? packed_size_or_none(type, entry.object(), entry.id, names_) : 0;
    observe_step_(entry.id, seconds, static_cast<std::uint32_t>(result.run), bytes);
  }
  if (!result.ours) return;
  if (seconds > 0) return learn(entry, thread, time, result, seconds, charged);
  if (!time.measured && entry.pace.load() == 0) entry.pace.store(handler_costs::pace_of_others);
}

void step_clock::learn_coroutine(object_entry& entry, thread_context& thread, std::uint32_t handler, double seconds) {
  entry.pace.store(costs_.learn(thread.id().value(), handler, seconds, 1, entry.pace.load()));
}

void step_clock::learn(object_entry& entry, thread_context& thread, const step_time& time, const step_result& result,
                       double seconds, double charged) {
  const double pace = entry.pace.load(),
               previous = costs_.of(time.handler) * (pace == 0 ? 1 : handler_costs::factor(pace));
  const double passed = seconds - charged;
  const bool doubtful = previous > 0 && passed > doubtful_seconds && passed > doubtful_times * previous * result.run;
  if (doubtful && !time.exact && thread.preemption.lost_processor()) return;
  entry.pace.store(costs_.learn(thread.id().value(), time.handler, seconds / result.run, result.run, pace));
}

}  // namespace nacre
