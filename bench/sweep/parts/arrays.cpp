// SPDX-License-Identifier: Apache-2.0
// Arrays with many elements.
#include <cstdint>
#include <functional>
#include <vector>

#include "operation.hpp"

namespace sweep {
namespace {

struct cell {
  std::uint64_t heard = 0;
  void hear(std::uint64_t number) { heard += number; }
  std::uint64_t tell() const { return heard; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

struct sum {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

using act = std::function<void(nacre::runtime&, nacre::array_ptr<cell>, std::uint64_t n)>;

/// What `each` does with an array of n elements; `also_making`: and what it takes to make and to end it.
double with_array(std::uint64_t n, bool also_making, const act& each) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    if (also_making) watch.start();
    const auto all = rt.create_array<cell>(nacre::extents{n});
    if (!also_making) watch.start();
    each(rt, all, n);
    if (!also_making) watch.stop();
    rt.destroy(all);
    rt.wait_quiescence();
    if (also_making) watch.stop();
  });
}

double make(std::uint64_t n) {
  return with_array(n, true, [](auto&, auto, auto) {});
}
double tell_all(std::uint64_t n) {
  return with_array(n, false, [](nacre::runtime& rt, auto all, auto) {
    rt.send<&cell::hear>(all, 1u);
    rt.wait_quiescence();
  });
}
double tell_each(std::uint64_t elements) {
  return with_array(elements, false, [](nacre::runtime& rt, auto all, std::uint64_t n) {
    for (std::uint64_t index = 0; index < n; ++index) rt.send<&cell::hear>(all[{index}], 1u);
    rt.wait_quiescence();
  });
}
double reduce(std::uint64_t n) {
  return with_array(n, false, [](nacre::runtime& rt, auto all, auto) {
    static_cast<void>(rt.reduce<&cell::tell>(all, sum{}).get());
  });
}
double insert(std::uint64_t n) {
  return run_job(one_rank(), [&](nacre::runtime& rt, stopwatch& watch) {
    const auto all = rt.create_array<cell>(nacre::extents{n}, nacre::sparse);
    watch.start();
    std::vector<nacre::future<void>> done;
    for (std::uint64_t index = 0; index < n; ++index) done.push_back(rt.insert(all, {index}));
    for (auto& each : done) each.get();
    for (std::uint64_t index = 0; index < n; ++index) static_cast<void>(rt.erase(all, {index}));
    rt.wait_quiescence();
    watch.stop();
  });
}

}  // namespace

std::vector<operation> array_operations() {
  return {{"create_array and destroy", "elements", make},
          {"a message to all", "elements", tell_all},
          {"a message to each", "elements", tell_each},
          {"reduce", "elements", reduce},
          {"insert and erase", "elements", insert}};
}

}  // namespace sweep
