// SPDX-License-Identifier: Apache-2.0
// The phases of the random program, as the mains of the ranks go through them.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "campaign/actions.hpp"
#include "campaign/arrays.hpp"
#include "campaign/colocations.hpp"
#include "campaign/contributions.hpp"
#include "campaign/last.hpp"
#include "campaign/program.hpp"

namespace campaign {
namespace {

constexpr std::uint64_t crowds_stream = 11;  // of the seed, so that other programs stay what they are
constexpr std::uint64_t crowd_worlds = 10;   // one of so many has crowds

void at_quiescence(nacre::context& ctx, std::uint64_t key, bool goes_on) {
  world& in = world::of(key);
  ++in.handlers_at_quiescence;
  in.must_be_quiet("when a handler for quiescence began on rank " + std::to_string(ctx.rank().value()));
  if (!goes_on) return;
  in.messages_left += in.messages_a_phase / 2;
  for (int burst = 0; burst < 3; ++burst) act(in, ctx, in.truth.main_of(nacre::rank_id(in.ranks)));
}

void check_quiet(nacre::runtime& rt, world& in) {
  const std::string moment = "when wait_quiescence returned on rank " + std::to_string(rt.rank().value());
  in.must_be_quiet(moment);
  if (in.handlers_at_quiescence != in.handlers_expected) {
    in.truth.violate(std::to_string(in.handlers_expected) + " handlers for quiescence were asked for, " +
                     std::to_string(in.handlers_at_quiescence) + " have run");
  }
}

void check_collectives(nacre::runtime& rt, world& in, std::uint32_t phase) {
  const nacre::rank_id root(phase % in.ranks);
  const std::string word = "phase " + std::to_string(phase);
  if (rt.broadcast(rt.rank() == root ? word : std::string("wrong"), root) != word) {
    in.truth.violate("a broadcast gave another value than the root's");
  }
  const std::uint64_t sum = rt.all_reduce(std::uint64_t{rt.rank().value()} + phase, std::plus<>{});
  if (sum != std::uint64_t{in.ranks} * (in.ranks - 1) / 2 + std::uint64_t{phase} * in.ranks) {
    in.truth.violate("a reduction gave a wrong sum");
  }
}

/// What is left for others to await when the phase has ended.
using kept = std::vector<pending_transfer>;

void begin_phase(nacre::runtime& rt, world& in, std::uint32_t phase, kept& later) {
  if (rt.rank().value() == 0) in.messages_left = in.messages_a_phase;
  rt.barrier();  // so that nobody finds a phase that has not begun
  begin_arrays(in, rt, phase);
  contribute_in_main(in, rt, phase);
  const stream_id stream = in.truth.main_of(rt.rank());
  if (phase == 0) create_in_main(in, rt);
  for (std::uint64_t rounds = in.truth.random.below(4); rounds != 0; --rounds) {
    act(in, rt, stream);
    if (in.truth.random.below(100) < in.memory_percent) {
      use_memory(in, rt);
      later.push_back(begin_transfer(in, rt));
      finish_in_main(in, begin_transfer(in, rt));
    }
    if (in.truth.random.below(100) < 2 * in.array_percent) {
      come_and_go_in_main(in, rt);
      if (auto asked = ask_all(in, rt, stream)) finish_in_main(in, std::move(*asked));
    }
    if (in.truth.random.below(100) < in.colocate_percent) {
      colocate_some(in, rt, stream);
      if (auto asked = ask_colocation(in, rt, stream)) finish_in_main(in, std::move(*asked));
    }
    const std::uint32_t object = any_object(in);
    if (object >= in.truth.objects() || !spend(in)) continue;
    switch (in.truth.random.below(5)) {
      case 0:
        finish_in_main(in, ask(in, rt, stream, object));
        break;
      case 1:
        migrate_in_main(in, rt);
        break;
      case 2:
        lock_in_main(in, rt, stream, object);
        break;
      case 3:
        rt.enable_balancing(in.truth.random.below(4) != 0);
        break;
      default:
        create_in_main(in, rt);
    }
  }
  if (in.crowd != 0) crowd_in_main(in, rt, stream);
}

void end_phase(nacre::runtime& rt, world& in, std::uint32_t phase) {
  const ending ending = in.endings[phase];
  if (ending == ending::barrier) {
    rt.barrier();
    return check_collectives(rt, in, phase);
  }
  const bool asks = ending == ending::handler_checks
                        ? in.truth.random.below(2) == 0
                        : ending == ending::handler_goes_on && in.at_quiescence[phase] == rt.rank().value();
  if (asks) {
    ++in.handlers_expected;
    rt.on_quiescence<&at_quiescence>(in.key(), ending == ending::handler_goes_on);
  }
  rt.wait_quiescence();
  // The others may run on from here; they do nothing but wait, until all have looked.
  if (ending == ending::quiescence) check_quiet(rt, in);
  rt.barrier();
  if (ending == ending::quiescence) return;
  rt.wait_quiescence();
  check_quiet(rt, in);
  rt.barrier();
}

}  // namespace

world::world(std::uint64_t seed, std::uint32_t crowd_min) : truth(seed) {
  nacre::rng& draw = truth.random;
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(draw.below(high - low + 1));
  };
  const std::uint64_t large = draw.below(100);
  ranks = large == 0 ? 64 : large <= 2 ? 32 : large < 50 ? pick(2, 16) : pick(2, 4);
  phases = pick(1, 5);
  messages_a_phase = draw.below(4) == 0 ? pick(200, 1500) : pick(10, 300);
  fan_out = pick(1, 4);
  charge_max = draw.below(4) == 0 ? 0 : 1e-6 * pick(1, 30);
  destroy_percent = draw.below(3) == 0 ? 0 : pick(1, 10);
  migrate_percent = pick(0, 40);
  shared_percent = pick(0, 90);
  coroutine_percent = pick(0, 50);
  memory_percent = draw.below(3) == 0 ? 0 : pick(1, 30);
  quiet_before_end = draw.below(2) == 0;
  array_percent = draw.below(3) == 0 ? 0 : pick(1, 30);
  colocate_percent = draw.below(2) == 0 ? 0 : pick(1, 30);
  for (std::uint32_t phase = 0; phase < phases && array_percent != 0; ++phase) {
    if (draw.below(2) == 0) continue;
    array_plans.push_back({phase, phase + pick(1, 2), pick(1, 4), pick(1, 5), draw.below(2) == 0,
                           static_cast<nacre::location_policy>(draw.below(7))});
  }
  for (std::uint32_t phase = 0; phase < phases; ++phase) {
    endings.push_back(static_cast<ending>(draw.below(4)));
    at_quiescence.push_back(pick(0, ranks - 1));
  }
  contributions = std::make_unique<contribution_record>(seed);
  nacre::rng apart = nacre::rng(seed).fork(crowds_stream);
  if (apart.below(crowd_worlds) == 0) crowd = static_cast<std::uint32_t>(20 + apart.below(1500) / ranks);
  crowd = std::max(crowd, crowd_min / ranks);
}

world::~world() = default;

void world::must_be_quiet(const std::string& moment) {
  truth.must_be_quiet(moment);
  memory.must_be_quiet(*this, moment);
  arrays_must_be_quiet(*this, moment);
  contributions_must_be_quiet(*this, moment);
}

void main_of_rank(nacre::runtime& rt, world& in) {
  rt.on_delivery_error([&in, rank = rt.rank()](const nacre::delivery_error& error) {
    if (!lost_to_all(in, error)) in.truth.reported(rank, error);
  });
  for (std::uint32_t phase = 0; phase < in.phases; ++phase) {
    kept later;
    begin_phase(rt, in, phase, later);
    end_phase(rt, in, phase);
    for (pending_transfer& each : later) finish_in_main(in, std::move(each));
  }
  end_of_main(rt, in);
}

}  // namespace campaign
