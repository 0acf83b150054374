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

void arrive(nacre::emulated_node& node, int hops) {
  corner& state = node.state<corner>();
  state.heard += 1;
  state.farthest = std::max(state.farthest, hops);
  if (state.heard < 8 * 8 * 8) return;
  std::printf("all have come by %lld ns, the last from %d hops\n", static_cast<long long>(node.now().count()),
              state.farthest);
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const nacre::emulated_machine machine{.grid = {8, 8, 8}, .threads = 4, .hop = 5ns, .turn = 75ns, .handler = 1us};
    const nacre::emulation done = nacre::emulate(rt, machine, [](nacre::emulated_node& node) {
      node.send<arrive>({0, 0, 0}, node.at().x + node.at().y + node.at().z);
    });
    if (rt.rank().value() == 0) {
      std::printf("%lld ns of virtual time, %llu messages\n", static_cast<long long>(done.time().count()),
                  static_cast<unsigned long long>(done.messages()));
    }
  });
}
