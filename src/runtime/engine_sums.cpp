// SPDX-License-Identifier: Apache-2.0
// Sums over the thread contexts of a rank, for its progress, its user and its summary.
#include "runtime/engine.hpp"

#include <cstdint>

namespace nacre {

rank_progress engine::so_far() const {
  rank_progress all{.workers = pool_->workers(), .idle_workers = pool_->idle_workers()};
  std::uint64_t busy = 0;
  for (const auto& each : pool_->thread_contexts()) {
    all.handlers += each->counters().handlers.read();
    busy += each->counters().busy_ticks.read();
  }
  all.busy_seconds = static_cast<double>(busy) * pool_->seconds_a_tick();
  return all;
}

rank_counters engine::counters() const noexcept {
  rank_counters sum;
  for (const auto& each : pool_->thread_contexts()) {
    const thread_counters& t = each->counters();
    sum.messages_local += t.messages_local.read();
    sum.messages_sent += t.messages_sent.read();
    sum.bytes_sent += t.bytes_sent.read();
    sum.hops += t.hops.read();
    sum.forwards += t.forwards.read();
    sum.carried += t.carried.read();
    sum.updates_sent += t.updates_sent.read();
    sum.updates_received += t.updates_received.read();
    sum.migrations_out += t.migrations_out.read();
    sum.migrations_in += t.migrations_in.read();
  }
  return sum;
}

}  // namespace nacre
