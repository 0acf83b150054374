// SPDX-License-Identifier: Apache-2.0
// A large object whose bulk is a buffer, which moves between processes without copies, see docs/mobile_objects.md.
// run: --nacre.ranks=2
// run: --nacre.transport=sim --nacre.ranks=3
// nacre run -n 2 --transport shm:
// nacre run -n 2 --transport tcp:
// prints: 1048576 cells, the last is 2
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>

struct field {
  std::uint32_t width = 0;
  nacre::buffer cells;  // cells.as<float>()
  template <class Archive>
  void serialize(Archive& ar) {
    ar(width, cells);
  }

  void make(std::uint32_t side) {
    width = side;
    cells = nacre::buffer(sizeof(float) * side * side);
    for (float& each : cells.as<float>()) each = 1;
  }
  void double_all() {
    for (float& each : cells.as<float>()) each *= 2;
  }
  void print() const {
    const auto values = cells.as<float>();
    std::printf("%zu cells, the last is %.0f\n", values.size(), static_cast<double>(values.back()));
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank().value() != 0) return;
    const auto p = rt.create<field>();
    rt.send<&field::make>(p, 1024u);
    rt.migrate(p, nacre::rank_id{rt.size() - 1});
    rt.send<&field::double_all>(p);
    rt.migrate(p, nacre::rank_id{0});
    rt.call<&field::print>(p).get();
  });
}
