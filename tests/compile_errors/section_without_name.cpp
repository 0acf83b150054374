// SPDX-License-Identifier: Apache-2.0
// A contribution to a section that the homes of its places do not know.
//
// error: contribute takes a nacre::section_ptr: write `auto s = rt.create_section(section).get();` once
// lines at most: 40
#include <cstdint>
#include <functional>

#include <nacre/nacre.hpp>

struct cell {
  int unused = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(unused);
  }
};
void on_sum(nacre::context&, std::uint64_t, int) {}

#ifdef FIXED
void give(nacre::context& ctx, const nacre::section_ptr& some) {
#else
void give(nacre::context& ctx, const nacre::section<cell>& some) {
#endif
  ctx.contribute<&on_sum>(some, 1, 1, std::plus<>{}, nacre::rank_id(0));
}
