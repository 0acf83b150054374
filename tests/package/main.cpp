// SPDX-License-Identifier: Apache-2.0
// A user's program: every rank asks its right neighbour for a square and checks the answer.
#include <nacre/nacre.hpp>

#include <cstdlib>

namespace {

int square(int x) { return x * x; }

}  // namespace

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const auto neighbour = nacre::rank_id{(rt.rank().value() + 1) % static_cast<unsigned>(rt.size())};
    if (rt.call<square>(neighbour, 12).get() != 144) std::abort();
  });
}
