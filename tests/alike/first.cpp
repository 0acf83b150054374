// SPDX-License-Identifier: Apache-2.0
// The class of the first file.
#include "alike/cells.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace nacre::tests {
namespace {

struct cell {
  int held = 0;
  void fill() { held = 1; }
  [[nodiscard]] int value() const { return held == 1 ? 1 : -1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(held);
  }
};

struct part {
  int held = 1;
  [[nodiscard]] int value() const { return held == 1 ? 1 : -1000; }
  void merge(part&&) {}
  template <class Archive>
  void serialize(Archive& ar) {
    ar(held);
  }
};
struct collections {
  array_ptr<cell> cells;
  group_ptr<part> parts;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(cells, parts);
  }
};

}  // namespace

object_id make_first(runtime& rt) {
  const auto object = rt.create<cell>();
  rt.send<&cell::fill>(object);
  return object.id();
}
int first_value(runtime& rt, object_id object) { return rt.call<&cell::value>(mobile_ptr<cell>(object)).get(); }

std::vector<std::byte> make_first_collections(runtime& rt) {
  const collections made{rt.create_array<cell>(extents{4}), rt.create_group<part>()};
  if (rt.rank().value() == 0) rt.send<&cell::fill>(made.cells);
  return pack(made);
}
int first_sum(runtime& rt, const std::vector<std::byte>& made) {
  const collections both = unpack<collections>(made).value();
  return rt.reduce<&cell::value>(both.cells, std::plus<>{}).get() +
         10 * rt.reduce<&part::value>(both.parts, std::plus<>{}).get() / static_cast<int>(rt.size());
}

}  // namespace nacre::tests
