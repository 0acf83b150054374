// SPDX-License-Identifier: Apache-2.0
// The program of docs/location.md: a class and an array that choose how ranks learn that their objects have moved.
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=4 --nacre.location=lazy_forwarding --nacre.balancer=rotate
// nacre run -n 2: --nacre.workers=1
// prints: 4096 boxes hold 8192 particles, 1 box by itself holds 1
#include <nacre/nacre.hpp>

#include <cstdio>
#include <functional>

struct particle_box {
  static constexpr auto location = nacre::location_policy::home;  // of all objects of this class

  long particles = 1;
  void add(long count) { particles += count; }
  long count() const { return particles; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(particles);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    auto boxes = rt.create_array<particle_box>(nacre::array_options{.location = nacre::location_policy::path_update},
                                               nacre::extents{64, 64});
    if (rt.rank().value() != 0) return;
    rt.migrate(boxes[{1, 2}], nacre::rank_id{rt.size() - 1});
    rt.call<&particle_box::add>(boxes, 1).get();
    const long all = rt.reduce<&particle_box::count>(boxes, std::plus<>{}).get();
    const auto alone = rt.create_on<particle_box>(nacre::rank_id{rt.size() - 1}).get();
    std::printf("4096 boxes hold %ld particles, 1 box by itself holds %ld\n", all,
                rt.call<&particle_box::count>(alone).get());
  });
}
