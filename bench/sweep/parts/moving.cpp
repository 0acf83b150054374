// SPDX-License-Identifier: Apache-2.0
// Many moves, messages to objects that move, places that remember where they went, and a balancer with many objects.
#include <cstdint>
#include <string>
#include <vector>

#include "operation.hpp"

namespace sweep {
namespace {

using nacre::context;
using nacre::mobile_ptr;
using nacre::rank_id;

struct cell {
  std::uint64_t heard = 0;
  void hear(std::uint64_t number) { heard += number; }
  void work(context& ctx, double seconds) { ctx.charge(seconds); }
  /// Goes to the next rank, so often.
  void wander(context& ctx, std::uint64_t left) {
    if (left == 0) return;
    static_cast<void>(ctx.migrate(ctx.self<cell>(), rank_id((ctx.rank().value() + 1) % ctx.size())));
    ctx.send<&cell::wander>(ctx.self<cell>(), left - 1);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

double migrate_all(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    std::vector<mobile_ptr<cell>> all(n);
    for (auto& each : all) each = rt.create<cell>();
    watch.start();
    std::vector<nacre::future<void>> moved;
    for (const auto each : all) moved.push_back(rt.migrate(each, rank_id(1)));
    for (auto& each : moved) each.get();
    watch.stop();
  });
}

double wander(std::uint64_t n) {
  return run_job(simulated(3), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    watch.start();
    rt.send<&cell::wander>(rt.create<cell>(), n);
    rt.wait_quiescence();
    watch.stop();
  });
}

/// Messages sent right behind a move, while the sender still takes the object to be here.
double behind_a_move(std::uint64_t n) {
  return run_job(simulated(3), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    const auto one = rt.create_on<cell>(rank_id(1)).get();
    watch.start();
    rt.send<&cell::hear>(one, 0u);
    static_cast<void>(rt.migrate(one, rank_id(2)));
    for (std::uint64_t number = 0; number < n; ++number) rt.send<&cell::hear>(one, number);
    rt.wait_quiescence();
    watch.stop();
  });
}

/// Rank 1 remembers where objects of rank 0 went that have been there, and is asked to pass on a message to each.
double forwarding(std::uint64_t n) {
  settings lazily = simulated(3);
  lazily["location"] = "lazy_forwarding";
  return run_job(lazily, [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    std::vector<mobile_ptr<cell>> all(n);
    std::vector<nacre::future<void>> moved;
    for (auto& each : all) {
      each = rt.create<cell>();
      moved.push_back(rt.migrate(each, rank_id(1)));
    }
    for (auto& each : moved) each.get();
    watch.start();
    for (const auto each : all) static_cast<void>(rt.migrate(each, rank_id(2)));
    for (const auto each : all) rt.send<&cell::hear>(each, 1u);
    rt.wait_quiescence();
    watch.stop();
  });
}

/// An object has at most 16 subscribers; here so many ranks have sent to it, and hear of each of its moves.
double subscribers(std::uint64_t n) {
  settings told = simulated(18);
  told["location"] = "subscriber_update";
  return run_job(told, [&](nacre::runtime& rt, stopwatch& watch) {
    mobile_ptr<cell> one = rt.rank() == rank_id(0) ? rt.create<cell>() : mobile_ptr<cell>();
    one = rt.broadcast(one, rank_id(0));
    rt.barrier();
    rt.migrate(one, rank_id(1)).get();
    rt.send<&cell::hear>(one, 1u);
    rt.wait_quiescence();
    if (rt.rank() != rank_id(0)) return;
    watch.start();
    rt.send<&cell::wander>(one, n);
    rt.wait_quiescence();
    watch.stop();
  });
}

double balanced(const std::string& method, std::uint64_t n) {
  settings settings = simulated(2);
  settings["balancer"] = method;
  return run_job(settings, [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return rt.wait_quiescence();
    watch.start();
    for (std::uint64_t number = 0; number < n; ++number) rt.send<&cell::work>(rt.create<cell>(), 10e-6);
    rt.wait_quiescence();
    watch.stop();
  });
}

}  // namespace

std::vector<operation> moving_operations() {
  std::vector<operation> all{{"migrate", "objects", migrate_all, 1000, 100'000},
                             {"migrate, one object from rank to rank", "moves", wander, 1000, 100'000},
                             {"messages behind a move", "messages", behind_a_move},
                             {"messages past a place that forwards", "forwarding entries", forwarding, 1000, 100'000},
                             {"migrate, an object with 16 subscribers", "moves", subscribers, 1000, 100'000}};
  for (const char* each :
       {"steal", "lifeline", "hierarchical", "diffusion", "gossip", "greedy_refine", "share", "master_worker"}) {
    all.push_back({std::string("objects of 10 us under ") + each, "waiting objects",
                   [each](std::uint64_t n) { return balanced(each, n); }, 1000, 100'000});
  }
  return all;
}

}  // namespace sweep
