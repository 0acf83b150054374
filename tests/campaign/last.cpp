// SPDX-License-Identifier: Apache-2.0
// What is left when everything has been destroyed: counters that agree, and no memory.
#include "campaign/last.hpp"

#include <cstdint>
#include <functional>
#include <string>

#include "campaign/actions.hpp"
#include "campaign/arrays.hpp"
#include "campaign/contributions.hpp"
#include "campaign/pointers.hpp"
#include "runtime/engine.hpp"

namespace campaign {
namespace {

constexpr std::uint64_t farewells_max = 1500;  // calls of destroyed objects, of all ranks
constexpr int late_rounds_max = 200;           // of collectives, during which the latest message comes

std::uint64_t entries(nacre::context& ctx) { return ctx.core().objects().known(); }

void destroy_own(world& in, nacre::runtime& rt) {
  for (std::uint32_t object = 0; object < in.truth.objects(); ++object) {
    const nacre::object_id id = in.truth.id_of(object);
    if (!id.valid() || in.truth.home_of(object) != rt.rank() || in.truth.is_place(object) ||
        in.truth.destroy_posted(object))
      continue;
    in.truth.destroy_sent(in.truth.main_of(rt.rank()), rt.rank(), object);
    with_pointer(in, object, [&](auto p) { rt.destroy(p); });
  }
}

void check_counters(world& in, nacre::runtime& rt) {
  const nacre::rank_counters rank_counters = rt.counters();
  const auto sum = [&](std::uint64_t of_rank) { return rt.all_reduce(of_rank, std::plus<>{}); };
  if (sum(rank_counters.migrations_out) != sum(rank_counters.migrations_in))
    in.truth.violate("more objects have left than arrived");
  if (rank_counters.forwards > rank_counters.hops) in.truth.violate("a rank has forwarded what it has not sent");
}

/// Waits for the location updates that are under way: quiescence does not count them. One that came after its rank had
/// forgotten an ended object would make it an entry again, which may stay for as long as there are few of them.
void await_updates(world& in, nacre::runtime& rt) {
  const auto sum = [&](std::uint64_t of_rank) { return rt.all_reduce(of_rank, std::plus<>{}); };
  bool all_come = false;
  for (int rounds = 0; rounds < late_rounds_max && !all_come; ++rounds) {
    const nacre::rank_counters now = rt.counters();
    all_come = sum(now.updates_sent) == sum(now.updates_received);
  }
  if (!all_come) in.truth.violate("updates were sent that have not come");
}

/// Every rank learns that every object is gone, and forgets it. What tells a rank of an end is not counted, so it may
/// still be under way when the system is quiet.
void check_memory(world& in, nacre::runtime& rt) {
  std::uint64_t targets = 0;
  for (std::uint32_t object = 0; object < in.truth.objects(); ++object)
    targets += in.truth.id_of(object).valid() ? 1 : 0;
  if (targets * in.ranks > farewells_max) return;
  for (std::uint32_t object = 0; object < in.truth.objects(); ++object) {
    if (in.truth.id_of(object).valid()) finish_in_main(in, ask(in, rt, in.truth.main_of(rt.rank()), object));
  }
  std::uint64_t left = 0, left_anywhere = 1;
  for (int rounds = 0; rounds < late_rounds_max && left_anywhere != 0; ++rounds) {
    rt.wait_quiescence();
    left = rt.call<&entries>(rt.rank()).get();
    left_anywhere = rt.all_reduce(left, std::plus<>{});
  }
  if (left != 0) {
    in.truth.violate("memory: rank " + std::to_string(rt.rank().value()) + " still has " + std::to_string(left) +
                     " entries of objects, all of which have ended");
  }
}

}  // namespace

void end_of_main(nacre::runtime& rt, world& in) {
  rt.barrier();
  in.messages_left = 0;
  if (in.quiet_before_end) rt.wait_quiescence();
  end_arrays(in, rt);
  rt.wait_quiescence();
  end_contributions(in, rt);
  destroy_own(in, rt);
  rt.wait_quiescence();
  in.must_be_quiet("when everything had been destroyed");
  rt.barrier();
  await_updates(in, rt);
  check_memory(in, rt);
  rt.wait_quiescence();
  check_counters(in, rt);
}

}  // namespace campaign
