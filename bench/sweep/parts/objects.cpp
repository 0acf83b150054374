// SPDX-License-Identifier: Apache-2.0
// Many objects, and many messages: made, sent, run, ended.
#include <cstdint>
#include <vector>

#include "operation.hpp"

namespace sweep {
namespace {

using nacre::mobile_ptr;
using nacre::rank_id;

struct cell {
  std::uint64_t heard = 0;
  void hear(std::uint64_t number) { heard += number; }
  std::uint64_t tell() const { return heard; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

void hear_on_rank(std::uint64_t) {}

std::vector<mobile_ptr<cell>> cells(nacre::runtime& rt, std::uint64_t n) {
  std::vector<mobile_ptr<cell>> all(n);
  for (auto& each : all) each = rt.create<cell>();
  return all;
}

double create(std::uint64_t n) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    watch.start();
    static_cast<void>(cells(rt, n));
    watch.stop();
  });
}

double destroy(std::uint64_t n) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    const auto all = cells(rt, n);
    watch.start();
    for (const auto each : all) rt.destroy(each);
    rt.wait_quiescence();
    watch.stop();
  });
}

double one_to_each(std::uint64_t n) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    const auto all = cells(rt, n);
    watch.start();
    for (const auto each : all) rt.send<&cell::hear>(each, 1u);
    rt.wait_quiescence();
    watch.stop();
  });
}

double all_to_one(std::uint64_t n) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    const auto one = rt.create<cell>();
    watch.start();
    for (std::uint64_t number = 0; number < n; ++number) rt.send<&cell::hear>(one, number);
    rt.wait_quiescence();
    watch.stop();
  });
}

double to_rank(std::uint64_t n) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    watch.start();
    for (std::uint64_t number = 0; number < n; ++number) rt.send<hear_on_rank>(rank_id(0), number);
    rt.wait_quiescence();
    watch.stop();
  });
}

double to_other_rank(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    watch.start();
    for (std::uint64_t number = 0; number < n; ++number) rt.send<hear_on_rank>(rank_id(1), number);
    rt.wait_quiescence();
    watch.stop();
  });
}

double create_elsewhere(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    watch.start();
    std::vector<nacre::future<mobile_ptr<cell>>> all;
    for (std::uint64_t number = 0; number < n; ++number) all.push_back(rt.create_on<cell>(rank_id(1)));
    for (auto& each : all) static_cast<void>(each.get());
    watch.stop();
  });
}

double to_destroyed(std::uint64_t n) {
  return run_job(simulated(2), [&](nacre::runtime& rt, stopwatch& watch) {
    if (rt.rank() != rank_id(0)) return;
    rt.on_delivery_error([](const nacre::delivery_error&) {});
    std::vector<nacre::future<mobile_ptr<cell>>> futures;
    for (std::uint64_t number = 0; number < n; ++number) futures.push_back(rt.create_on<cell>(rank_id(1)));
    watch.start();
    for (auto& each : futures) {
      const auto p = each.get();
      rt.destroy(p);
      rt.send<&cell::hear>(p, 1u);
    }
    rt.wait_quiescence();
    watch.stop();
  });
}

double shared_calls(std::uint64_t n) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    const auto all = cells(rt, n);
    watch.start();
    for (const auto each : all) static_cast<void>(rt.with_shared(each, [](const cell& c) { return c.heard; }));
    watch.stop();
  });
}

}  // namespace

std::vector<operation> object_operations() {
  return {{"create", "objects", create, 1000, 1'000'000, 1.25, "caches: new memory for each"},
          {"destroy", "objects", destroy},
          {"a message to each of them", "objects", one_to_each},
          {"messages to one object", "messages", all_to_one},
          {"messages to a rank", "messages", to_rank},
          {"messages to another rank", "messages", to_other_rank},
          {"create_on", "objects", create_elsewhere},
          {"messages to destroyed objects", "objects", to_destroyed},
          {"with_shared", "objects", shared_calls}};
}

}  // namespace sweep
