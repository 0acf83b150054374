// SPDX-License-Identifier: Apache-2.0
// What elements contribute at random, and what must come of it.
#include "campaign/contributions.hpp"

#include <cstdint>
#include <string>

namespace campaign {
namespace {

constexpr std::uint64_t contributions_stream = 13;  // of the seed, so that other programs stay what they are

void on_result(nacre::context& ctx, std::uint64_t step, given sum) {
  world& in = world::of(sum.first);
  if (ctx.rank().value() != step % in.ranks) in.truth.violate("the result of a step went to another rank");
  if (!in.contributions->results.emplace(step, sum.second).second) in.truth.violate("a step had two results");
}

}  // namespace

contribution_record::contribution_record(std::uint64_t seed)
    : random(nacre::rng(seed).fork(contributions_stream)), used(random.below(3) == 0), places(3 + random.below(40)) {}

nacre::task<void> giver::give(nacre::context& ctx, std::uint64_t step) {
  world& in = world::of(home_world);
  contribution_record& record = *in.contributions;
  const auto index = static_cast<std::uint64_t>(ctx.index()[0]);
  if (index % 3 == 0) {
    const std::uint64_t last = (record.places - 1) / 3 * 3, next = index == last ? 0 : index + 3,
                        previous = index == 0 ? last : index - 3;
    ctx.send<&giver::token>(record.all[next], step, index);
    if (co_await ctx.next<&giver::token>(step) != previous) in.truth.violate("a token came from another element");
  }
  ++record.given_values[step];
  ctx.contribute<&on_result>(step, given(home_world, 1), add_given(),
                             nacre::rank_id(static_cast<std::uint32_t>(step % in.ranks)));
  if (record.random.below(4) == 0) ctx.charge(record.random.uniform() * in.charge_max);
  if (record.random.below(3) == 0)
    ctx.migrate(ctx.self<giver>(), nacre::rank_id(static_cast<std::uint32_t>(record.random.below(in.ranks))));
}

void contribute_in_main(world& in, nacre::runtime& rt, std::uint32_t phase) {
  contribution_record& record = *in.contributions;
  if (!record.used) return;
  if (phase == 0) {
    record.all =
        rt.create_array<giver>(nacre::extents{record.places}, [&](const nacre::index&) { return giver{in.key()}; });
  }
  for (std::uint64_t steps = record.random.below(3); steps > 0; --steps) {
    rt.send<&giver::give>(record.all, record.begun++);
    const std::uint64_t place = record.random.below(record.places);
    if (place % 3 == 1 && record.random.below(4) == 0 && record.ended.insert(place).second)
      rt.erase(record.all, nacre::index{static_cast<std::int64_t>(place)});
  }
}

void end_contributions(world& in, nacre::runtime& rt) {
  if (in.contributions->used) rt.destroy(in.contributions->all);
}

void contributions_must_be_quiet(world& in, const std::string& moment) {
  const contribution_record& record = *in.contributions;
  if (record.results.size() != record.begun)
    in.truth.violate(std::to_string(record.begun) + " steps had begun, and " + std::to_string(record.results.size()) +
                     " had results, " + moment);
  for (const auto& [step, sum] : record.results) {
    if (record.given_values.at(step) != sum)
      in.truth.violate("a result counts other values than were given, " + moment);
  }
}

}  // namespace campaign
