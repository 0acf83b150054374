// SPDX-License-Identifier: Apache-2.0
// The key of a keyed array has no hash.
//
// error: nacre: the key of a keyed array needs a hash that is the same on every rank: specialise std::hash
// lines at most: 40
#include <nacre/nacre.hpp>

#include <cstddef>
#include <functional>

/// Without `serialize`, and with numbers of which different bytes are equal.
struct seat {
  double row = 0, number = 0;
  friend bool operator==(const seat&, const seat&) = default;
};
struct guest {
  int unused = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(unused);
  }
};

#ifdef FIXED
template <>
struct std::hash<seat> {
  std::size_t operator()(const seat& of) const noexcept { return static_cast<std::size_t>(of.row * 1000 + of.number); }
};
#endif

void make(nacre::runtime& rt) { static_cast<void>(rt.create_array<guest>(nacre::keyed_by<seat>{})); }
