// SPDX-License-Identifier: Apache-2.0
// Many things that wait: calls, coroutines, colocations, declarations; and memory that is exposed.
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "operation.hpp"

namespace sweep {
namespace {

using nacre::context;
using nacre::mobile_ptr;
using nacre::rank_id;

struct cell {
  std::uint64_t heard = 0;
  std::uint64_t add(std::uint64_t number) { return heard += number; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

std::uint64_t answer(std::uint64_t number) { return number + 1; }
void end() {}

nacre::task<void> ask(context& ctx, rank_id whom, std::uint64_t number) {
  static_cast<void>(co_await ctx.call<answer>(whom, number));
}

void meet(context&, cell& one, cell& other) { one.heard += ++other.heard; }

double pending_calls(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    const auto object = rt.create_on<cell>(rank_id(1)).get();
    watch.start();
    std::vector<nacre::future<std::uint64_t>> all;
    for (std::uint64_t number = 0; number < n; ++number) all.push_back(rt.call<&cell::add>(object, number));
    for (auto& each : all) static_cast<void>(each.get());
    watch.stop();
  });
}

double all_at_once(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    watch.start();
    std::vector<nacre::future<std::uint64_t>> all;
    for (std::uint64_t number = 0; number < n; ++number) all.push_back(rt.call<answer>(rank_id(1), number));
    static_cast<void>(nacre::when_all(std::move(all)).get());
    watch.stop();
  });
}

double coroutines(std::uint64_t n) {
  settings slow = simulated(2);
  slow["sim.latency"] = "1s";  // all are suspended before the first goes on
  return run_job(slow, [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    watch.start();
    for (std::uint64_t number = 0; number < n; ++number) rt.send<ask>(rank_id(0), rank_id(1), number);
    rt.wait_quiescence();
    watch.stop();
  });
}

double colocations_of_pairs(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    std::vector<std::pair<mobile_ptr<cell>, nacre::future<mobile_ptr<cell>>>> all;
    for (std::uint64_t number = 0; number < n; ++number) {
      all.emplace_back(rt.create<cell>(), rt.create_on<cell>(rank_id(1)));
    }
    rt.wait_quiescence();
    watch.start();
    for (auto& [local, remote] : all) rt.colocate<meet>(local, remote.get());
    rt.wait_quiescence();
    watch.stop();
  });
}

double colocations_of_one_pair(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    const auto object = rt.create<cell>(), remote = rt.create_on<cell>(rank_id(1)).get();
    watch.start();
    for (std::uint64_t number = 0; number < n; ++number) rt.colocate<meet>(object, remote);
    rt.wait_quiescence();
    watch.stop();
  });
}

double declarations(std::uint64_t n) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    watch.start();
    for (std::uint64_t number = 0; number < n; ++number) rt.on_quiescence<end>();
    rt.wait_quiescence();
    watch.stop();
  });
}

double exposures(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    std::vector<double> data(n);
    const std::array<double, 1> one{1};
    watch.start();
    std::vector<nacre::remote_memory<double>> all;
    for (double& each : data) all.push_back(rt.expose(std::span<double>(&each, 1)));
    std::vector<nacre::future<void>> done;
    for (const auto& each : all) done.push_back(rt.put(each, 0, std::span<const double>(one)));
    for (auto& each : done) each.get();
    for (const auto& each : all) rt.withdraw(each);
    watch.stop();
  });
}

}  // namespace

std::vector<operation> waiting_operations() {
  return {{"call", "pending calls", pending_calls},
          {"when_all", "futures", all_at_once},
          {"co_await", "suspended coroutines", coroutines},
          {"colocate, each pair once", "colocations", colocations_of_pairs, 1000, 100'000},
          {"colocate, always the same pair", "colocations", colocations_of_one_pair, 1000, 100'000},
          {"on_quiescence", "declarations", declarations},
          {"expose, put, withdraw", "exposures", exposures}};
}

}  // namespace sweep
