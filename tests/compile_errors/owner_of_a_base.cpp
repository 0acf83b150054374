// SPDX-License-Identifier: Apache-2.0
// An owner of a polymorphic base, whose derived classes nobody has listed.
//
// error: nacre: of a pointer to a polymorphic class only the base would arrive: list the classes that it may own
// error: scene::serialize
#include <nacre/nacre.hpp>

#include <memory>

struct shape {
  virtual ~shape() = default;
  int id = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(id);
  }
};
struct disc : virtual shape {
  double radius = 1;
  template <class Archive>
  void serialize(Archive& ar) {
    shape::serialize(ar);
    ar(radius);
  }
};
#ifdef FIXED
constexpr nacre::polymorphic<shape, disc> classes_of(const shape*) { return {}; }
#endif

struct scene {
  std::unique_ptr<shape> one;
  int id() const { return one ? one->id : -1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(one);
  }
};

int look(nacre::runtime& rt) { return rt.call<&scene::id>(rt.create<scene>()).get(); }
