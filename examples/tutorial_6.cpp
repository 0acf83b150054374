// SPDX-License-Identifier: Apache-2.0
// Step 6 of docs/tutorial.md: a sandpile, whose cells are an array of mobile objects that move about.
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=8 --nacre.seed=7 --nacre.location=lazy_forwarding
// run: --nacre.transport=sim --nacre.ranks=8 --nacre.seed=7 --nacre.location=home
// nacre run -n 2: --nacre.workers=1
// prints: 534 grains lie, after 41967 topplings
#include <nacre/nacre.hpp>

#include <array>
#include <cstdio>
#include <functional>

/// A place of the pile. Four grains on it are one too many: they slide to its four neighbours.
class cell {
 public:
  void drop(nacre::context& ctx, nacre::array_ptr<cell> pile, long grains) {
    grains_ += grains;
    if (grains_ < 4) return;
    const long slides = grains_ / 4;
    grains_ %= 4;
    topplings_ += slides;
    const nacre::index index = ctx.index();  // the place of this cell
    for (const auto& [down, right] : {std::array{-1, 0}, std::array{1, 0}, std::array{0, -1}, std::array{0, 1}}) {
      const nacre::index next{index[0] + down, index[1] + right};
      if (pile.shape().contains(next)) ctx.send<&cell::drop>(pile[next], pile, slides);  // else over the edge
    }
    if (++turns_ % 50 != 0) return;
    ctx.migrate(ctx.self<cell>(), nacre::rank_id((ctx.rank().value() + 1) % ctx.size()));
  }
  long grains() const { return grains_; }
  long topplings() const { return topplings_; }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(grains_, topplings_, turns_);
  }

 private:
  long grains_ = 0, topplings_ = 0, turns_ = 0;
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    constexpr int side = 16;
    const auto pile =
        rt.create_array<cell>(nacre::extents{side, side});  // collective: 256 cells, spread over the ranks
    if (rt.rank().value() == 0) {
      rt.send<&cell::drop>(pile, pile, 2L);                           // to every cell
      rt.send<&cell::drop>(pile[{side / 2, side / 2}], pile, 2000L);  // to one of them
    }
    rt.wait_quiescence();
    if (rt.rank().value() != 0) return;
    const long grains = rt.reduce<&cell::grains>(pile, std::plus<>{}).get();
    const long topplings = rt.reduce<&cell::topplings>(pile, std::plus<>{}).get();
    std::printf("%ld grains lie, after %ld topplings\n", grains, topplings);
  });
}
