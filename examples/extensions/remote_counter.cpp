// SPDX-License-Identifier: Apache-2.0
// Loads the module remote_counter on every rank, and lets all ranks take and give on one bounded counter.
// run: --nacre.ranks=4
// run: --nacre.transport=sim --nacre.ranks=9
// nacre run -n 3 --transport shm: --nacre.workers=1
// nacre run -n 3 --transport tcp: --nacre.workers=1
// prints: the counter is back at 0
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>

struct order {  // as the module has it
  std::uint32_t owner = 0;
  std::uint32_t unused = 0;
  std::int64_t delta = 0;
  std::int64_t least = 0, most = 0;
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::extension_ref counter = rt.extension(rt.load_extension("remote_counter.so"));
    rt.barrier();  // now every rank has it
    const auto add = [&](std::int64_t delta) {
      const order order{.owner = rt.size() - 1, .unused = 0, .delta = delta, .least = 0, .most = 2};
      const auto begin = counter.command(rt.rank(), 0, std::as_bytes(std::span(&order, 1))).get();
      std::int64_t value = -1;
      if (begin.size() == sizeof value) std::memcpy(&value, begin.data(), sizeof value);
      return value;
    };
    bool bounded = true;
    for (int turn = 0; turn < 20; ++turn) {  // two ranks at a time get in, the others back off
      const std::int64_t previous = add(1);
      bounded &= previous == 0 || previous == 1;
      add(-1);
    }
    rt.barrier();
    if (rt.all_reduce(bounded, std::logical_and<>{}) && rt.rank().value() == 0 && add(0) == 0) {
      std::printf("the counter is back at 0\n");
    }
  });
}
