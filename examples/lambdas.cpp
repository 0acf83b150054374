// SPDX-License-Identifier: Apache-2.0
// Lambdas without captures as handlers, on ranks and on an object.
//
// run: --nacre.ranks=2
// nacre run -n 2:
// prints: 2 + 3 = 5
// prints: rank 1 says hello, world
// prints: the box holds 12
#include <nacre/nacre.hpp>

#include <cstdio>
#include <string>

struct box {
  int held = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(held);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank().value() != 0) return;
    const nacre::rank_id other{rt.size() - 1};
    const auto add = [](int a, int b) { return a + b; };
    std::printf("2 + 3 = %d\n", rt.call(other, add, 2, 3).get());

    const auto greet = [](nacre::context& ctx, std::string whom) {
      return "rank " + std::to_string(ctx.rank().value()) + " says hello, " + whom;
    };
    std::printf("%s\n", rt.call(other, greet, "world").get().c_str());

    const auto p = rt.create_on<box>(other).get();
    rt.send(
        p, [](box& b, nacre::context&, int n) { b.held += n; }, 12);  // box&: alone on it
    const auto look = [](const box& b) { return b.held; };            // const box&: beside others
    std::printf("the box holds %d\n", rt.call(p, look).get());
  });
}
