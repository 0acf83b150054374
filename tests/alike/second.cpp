// SPDX-License-Identifier: Apache-2.0
// The class of the second file.
#include "alike/cells.hpp"

namespace nacre::tests {
namespace {

struct cell {
  int held = 0;
  void fill() { held = 2; }
  [[nodiscard]] int value() const { return held == 2 ? 2 : -1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(held);
  }
};

}  // namespace

object_id make_second(runtime& rt) {
  const auto object = rt.create<cell>();
  rt.send<&cell::fill>(object);
  return object.id();
}
int second_value(runtime& rt, object_id object) { return rt.call<&cell::value>(mobile_ptr<cell>(object)).get(); }

}  // namespace nacre::tests
