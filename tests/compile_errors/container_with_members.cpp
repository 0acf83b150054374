// SPDX-License-Identifier: Apache-2.0
// A class that is derived from a container and has members of its own, which would stay behind.
//
// error: would arrive without its own members
// lines at most: 24
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

struct series : std::vector<double> {
  std::string name;
#ifdef FIXED
  template <class Archive>
  void serialize(Archive& ar) {
    ar(static_cast<std::vector<double>&>(*this), name);
  }
#endif
};

void show(const series&) {}
void tell(nacre::runtime& rt) { rt.send<show>(nacre::rank_id{1}, series()); }
