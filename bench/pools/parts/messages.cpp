// SPDX-License-Identifier: Apache-2.0
// Two ranks that send spans to each other; rank 0 measures.
#include "messages.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include <nacre/nacre.hpp>

#include "steady_seconds.hpp"

namespace pools {
namespace {

using nacre::rank_id;

/// The state of this process's rank: set by its main before a barrier, then used by its handlers, one at a time.
struct state {
  std::vector<char> payload;
  std::uint32_t count = 1;  // messages there for each one back
  std::uint32_t seen = 0;
  std::uint32_t trips_left = 0;
};
state& here() {
  static state of_rank;
  return of_rank;
}

void answered(nacre::context& ctx, std::span<const char> payload);

void taken(nacre::context& ctx, std::uint32_t count, std::span<const char> payload) {
  if (++here().seen < count) return;
  here().seen = 0;
  ctx.send<answered>(rank_id(0), count == 1 ? payload : payload.first(1));
}

void give(nacre::context& ctx) {
  for (std::uint32_t i = 0; i < here().count; ++i) {
    ctx.send<taken>(rank_id(1), here().count, std::span<const char>(here().payload));
  }
}

void answered(nacre::context& ctx, std::span<const char>) {
  if (--here().trips_left > 0) give(ctx);
}

/// The least of some batches, for one message.
double phase(nacre::runtime& rt, std::size_t bytes, std::uint32_t count) {
  constexpr int batches = 8;
  const auto trips =
      static_cast<std::uint32_t>(std::max<std::size_t>(4, (bytes <= 4096 ? 400 : 2'000'000 / bytes) / count));
  double best = 1e9;
  for (int batch = 0; batch < batches; ++batch) {
    rt.barrier();
    const double start = bench::steady_seconds();
    if (rt.rank().value() == 0) {
      here().payload.resize(bytes);
      here().count = count;
      here().trips_left = trips;
      rt.send<give>(rt.rank());
    }
    rt.wait_quiescence();
    best = std::min(best, bench::steady_seconds() - start);
  }
  return best / trips / count;
}

}  // namespace

int exchange(nacre::config configuration, const std::vector<std::size_t>& sizes,
             const std::function<void(const message_times&)>& report) {
  configuration.set("workers", "1");
  configuration.set("spin", "10ms");      // the question is what a message costs, not what waking costs
  configuration.set("aggregate", "off");  // nor what it costs in company
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    for (const std::size_t bytes : sizes) {
      message_times got{.bytes = bytes};
      got.round_trip = phase(rt, bytes, 1);
      got.one_way = phase(rt, bytes, bytes <= 65536 ? 32 : 4);
      if (rt.rank().value() == 0) report(got);
    }
  });
}

}  // namespace pools
