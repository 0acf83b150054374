// SPDX-License-Identifier: Apache-2.0
// A program for an emulated machine: every node tells the corner how far away it is.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <nacre/emulator.hpp>
#include <nacre/nacre.hpp>

using namespace std::chrono_literals;

struct corner {
  int heard = 0;
  int farthest = 0;
};

void arrive(nacre::emulated_node& here, int hops) {
  corner& own = here.state<corner>();
  own.heard += 1;
  own.farthest = std::max(own.farthest, hops);
  if (own.heard < 8 * 8 * 8) return;
  std::printf("all have come by %lld ns, the last from %d hops\n", static_cast<long long>(here.now().count()),
              own.farthest);
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::emulated_machine machine{.grid = {8, 8, 8}, .threads = 4, .hop = 5ns, .turn = 75ns, .handler = 1us};
    const nacre::emulation done = nacre::emulate(rt, machine, [](nacre::emulated_node& here) {
      here.send<arrive>({0, 0, 0}, here.at().x + here.at().y + here.at().z);
    });
    if (rt.rank().value() == 0) {
      std::printf("%lld ns of virtual time, %llu messages\n", static_cast<long long>(done.time().count()),
                  static_cast<unsigned long long>(done.messages()));
    }
  });
}
