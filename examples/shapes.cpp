// SPDX-License-Identifier: Apache-2.0
// An object whose members own polymorphic objects, which keep their classes when it moves, see docs/mobile_objects.md.
// run: --nacre.ranks=2
// run: --nacre.transport=sim --nacre.ranks=3
// nacre run -n 2 --transport shm:
// prints: area 16
#include <nacre/nacre.hpp>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

struct shape {
  virtual ~shape() = default;
  virtual double area() const = 0;
  double height = 1;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(height);
  }
};

struct rectangle : shape {
  double width = 4;
  double area() const override { return width * height; }
  template <class Archive>
  void serialize(Archive& ar) {
    shape::serialize(ar);
    ar(width);
  }
};

struct square : shape {
  double area() const override { return height * height; }
};

constexpr nacre::polymorphic<shape, rectangle, square> classes_of(const shape*) { return {}; }

struct drawing {
  std::vector<std::unique_ptr<shape>> shapes;
  void draw() {
    shapes.push_back(std::make_unique<rectangle>());
    shapes.push_back(std::make_unique<square>());
    for (const auto& each : shapes) each->height *= 2;
    shapes.push_back(std::make_unique<rectangle>());
  }
  double area() const {
    double sum = 0;
    for (const auto& each : shapes) sum += each->area();
    return sum;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(shapes);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank().value() != 0) return;
    const auto p = rt.create<drawing>();
    rt.send<&drawing::draw>(p);
    for (unsigned rank = rt.size(); rank-- != 0;) rt.migrate(p, nacre::rank_id{rank});
    std::printf("area %.0f\n", rt.call<&drawing::area>(p).get());
  });
}
