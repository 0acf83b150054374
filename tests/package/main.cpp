// SPDX-License-Identifier: Apache-2.0
// A user's program: every rank asks its right neighbour for a square and checks the answer.
#include <nacre/nacre.hpp>

#include <cstdlib>

int square(int x) { return x * x; }

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const auto neighbour = nacre::rank_id{(rt.rank().value() + 1) % rt.size()};
    if (rt.call<square>(neighbour, 12).get() != 144) std::abort();
  });
}
