// SPDX-License-Identifier: Apache-2.0
// The program of README.md: a counter that moves to another rank while messages are on their way to it.
// run: --nacre.ranks=2
// prints: 500500
#include <nacre/nacre.hpp>

#include <cstdio>

struct counter {
  long value = 0;
  void add(long n) { value += n; }    // not const: runs alone on its object
  long get() const { return value; }  // const: runs beside other const handlers
  template <class Archive>
  void serialize(Archive& ar) {
    ar(value);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {  // called once on every rank
    if (rt.rank() != nacre::rank_id{0}) return;
    auto p = rt.create<counter>();
    for (long n = 1; n <= 1000; ++n) {
      rt.send<&counter::add>(p, n);
      if (n == 500) rt.migrate(p, nacre::rank_id{rt.size() - 1});
    }
    std::printf("%ld\n", rt.call<&counter::get>(p).get());  // 500500, wherever the counter is now
  });
}
