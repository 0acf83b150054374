// SPDX-License-Identifier: Apache-2.0
// The key of a keyed array has no serialize.
//
// error: nacre: the key of a keyed array travels in messages: it has `template <class Archive> void serialize
// lines at most: 60
#include <cstddef>
#include <string>

#include <nacre/nacre.hpp>

struct seat {
  std::string row;
  friend bool operator==(const seat&, const seat&) = default;
#ifdef FIXED
  template <class Archive>
  void serialize(Archive& ar) {
    ar(row);
  }
#endif
};
template <>
struct std::hash<seat> {
  std::size_t operator()(const seat& key) const noexcept { return std::hash<std::string>{}(key.row); }
};
struct guest {
  int unused = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(unused);
  }
};

void make(nacre::runtime& rt) { static_cast<void>(rt.create_array<guest>(nacre::keyed_by<seat>{})); }
