// SPDX-License-Identifier: Apache-2.0
// Marks messages of a program, so that the reports of a trace draw a line from departure to arrival.
#pragma once

#include <cstdint>

#include <nacre/handler.hpp>
#include <nacre/ids.hpp>

namespace nacre {

class context;

namespace detail {
void trace_departure(context& ctx, rank_id target, std::uint64_t number, const handler_info& handler);
}  // namespace detail

/// Whether the run writes a trace (--nacre.trace). Without one the functions below do nothing.
[[nodiscard]] bool is_traced(const context& ctx) noexcept;

/// Notes that a message to the handler F leaves for `target`; to be called just before it is sent. Every report draws a
/// line from here to the place where trace_arrival is called for it. The runtime records no arrivals of messages by
/// itself, as there are very many; so a program chooses of which messages there are lines. The two ranks and `number`
/// tell a message apart from all others of the run. Messages from rank to rank that are handled in the order in which
/// they are sent need no number on the way: both sides count them. A message without its arrival has no line.
///
///     nacre::trace_departure<&take_row>(ctx, target, ++rows_sent[target.value()]);
///     ctx.send<&take_row>(target, row);
template <auto F>
void trace_departure(context& ctx, rank_id target, std::uint64_t number) {
  if (is_traced(ctx)) detail::trace_departure(ctx, target, number, detail::handler_of<F>());
}

/// Notes that a message of `source` is here; to be called by the handler that it is for, or later, when its contents
/// are used. `bytes`: its size, which reports show. Both functions throw usage_error for a rank that there is not.
void trace_arrival(context& ctx, rank_id source, std::uint64_t number, std::uint64_t bytes);

}  // namespace nacre
