// SPDX-License-Identifier: Apache-2.0
// Lines of requests and of work in the reports of a trace.
#pragma once

#include <cstdint>
#include <nacre/archive.hpp>
#include <nacre/nacre.hpp>
#include <nacre/traced_message.hpp>
#include <unordered_map>

#include "search.hpp"
#include "share.hpp"
#include "steal.hpp"

namespace uts {

/// What a line shows.
enum class line : std::uint64_t { request, release, work };

/// Tells the `count`-th message of a kind from one rank to another apart from all others between them.
[[nodiscard]] constexpr std::uint64_t line_number(line kind, std::uint64_t count) noexcept {
  return 3 * count + static_cast<std::uint64_t>(kind);
}

template <auto Handler>
void line_leaves(nacre::context& ctx, nacre::rank_id target, line kind, std::uint64_t count) {
  nacre::trace_departure<Handler>(ctx, target, line_number(kind, count));
}
template <class Content>
void line_arrives(nacre::context& ctx, nacre::rank_id source, line kind, std::uint64_t count, const Content& content) {
  if (nacre::is_traced(ctx)) {
    nacre::trace_arrival(ctx, source, line_number(kind, count), nacre::packed_size(content));
  }
}

/// The lines of one thief and victim, which each rank is: from the thief to the look at which the victim finds its
/// request and has work for it, and back. Requests that are refused have none, as they would hide the others. A thief
/// asks a victim again only when that has answered, so both count the same requests. Counts nothing without a trace.
/// Not thread-safe.
class steal_lines {
 public:
  void ask(nacre::context& ctx, nacre::rank_id victim) {
    if (nacre::is_traced(ctx)) line_leaves<&stealing::on_request>(ctx, victim, line::request, ++sent_[victim.value()]);
  }
  void receive_request(const nacre::context& ctx) {
    if (nacre::is_traced(ctx)) ++received_[ctx.source().value()];
  }
  /// The rank answers the last request of `thief` by work.
  void give(nacre::context& ctx, nacre::rank_id thief, bool waits) {
    if (!nacre::is_traced(ctx)) return;
    const std::uint64_t count = received_[thief.value()];
    line_arrives(ctx, thief, line::request, count, waits);
    line_leaves<&stealing::on_work>(ctx, thief, line::work, count);
  }
  void receive_work(nacre::context& ctx, const search& given) {
    if (nacre::is_traced(ctx)) line_arrives(ctx, ctx.source(), line::work, sent_[ctx.source().value()], given);
  }

 private:
  std::unordered_map<std::uint32_t, std::uint64_t> sent_, received_;  // requests, by the other rank
};

}  // namespace uts
