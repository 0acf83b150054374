// SPDX-License-Identifier: Apache-2.0
// Lines of messages in the trace.
#include <cstdint>

#include <nacre/nacre.hpp>
#include <nacre/traced_message.hpp>

#include "exec/thread_context.hpp"

namespace nacre {
namespace {

void check_rank(const context& ctx, rank_id rank) {
  if (rank.value() >= ctx.size()) throw usage_error("a line of a message begins or ends at a rank that there is not");
}

}  // namespace

bool is_traced(const context& ctx) noexcept { return ctx.current_thread().is_recorded(); }

void detail::trace_departure(context& ctx, rank_id target, std::uint64_t number, const handler_info& handler) {
  check_rank(ctx, target);
  ctx.current_thread().record(trace::event_kind::message_departs, number, target.value(), handler.id.value());
}

void trace_arrival(context& ctx, rank_id source, std::uint64_t number, std::uint64_t bytes) {
  check_rank(ctx, source);
  ctx.current_thread().record(trace::event_kind::message_arrives, number, source.value(), bytes);
}

}  // namespace nacre
