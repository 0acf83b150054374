// SPDX-License-Identifier: Apache-2.0
// k-means: blocks of points as elements of an array; each round is one reduction, and one broadcast of the centres.
// run: --nacre.workers=2
// run: --nacre.ranks=3 --nacre.workers=1
// run: --nacre.transport=sim --nacre.ranks=16
// nacre run -n 2: --nacre.workers=1
// nacre run -n 2 --transport tcp: --nacre.workers=1
// prints: the blocks and the loop agree after 10 rounds
#include <nacre/nacre.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

constexpr std::size_t clusters = 8, blocks = 32, points_per_block = 500;
constexpr int rounds = 10;

struct point {
  double x = 0, y = 0;
};
using centres = std::array<point, clusters>;

/// The sums of the points that are nearest to each centre.
struct sums {
  std::array<double, clusters> x{}, y{}, count{};
};
/// Adds the sums of two parts; it runs on every rank, so it has no members.
struct add_sums {
  sums operator()(sums a, const sums& b) const {
    for (std::size_t each = 0; each < clusters; ++each) {
      a.x[each] += b.x[each], a.y[each] += b.y[each], a.count[each] += b.count[each];
    }
    return a;
  }
};

/// The points of a block lie around one of the clusters' true centres, at places that the block's number decides.
std::vector<point> points_of(std::size_t block) {
  nacre::rng random(block + 1);
  std::vector<point> points(points_per_block);
  for (std::size_t each = 0; each < points_per_block; ++each) {
    const double angle = 6.28 * static_cast<double>(each % clusters) / clusters;
    const auto shift = [&] { return static_cast<double>(random.below(1000)) / 2000 - 0.25; };
    points[each] = {std::cos(angle) + shift(), std::sin(angle) + shift()};
  }
  return points;
}

sums nearest_of(const std::vector<point>& points, const centres& guess) {
  sums nearest;
  for (const point& each : points) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::max();
    for (std::size_t target = 0; target < clusters; ++target) {
      const double squared = std::pow(each.x - guess[target].x, 2) + std::pow(each.y - guess[target].y, 2);
      if (squared < least) least = squared, best = target;
    }
    nearest.x[best] += each.x, nearest.y[best] += each.y, nearest.count[best] += 1;
  }
  return nearest;
}

centres means_of(const sums& sums, centres previous) {
  for (std::size_t each = 0; each < clusters; ++each) {
    if (sums.count[each] > 0) previous[each] = {sums.x[each] / sums.count[each], sums.y[each] / sums.count[each]};
  }
  return previous;
}
centres first_centres() {
  centres result;
  for (std::size_t each = 0; each < clusters; ++each) result[each] = points_of(0)[each];
  return result;
}

struct block {
  std::vector<point> points;
  sums nearest(centres guess) const { return nearest_of(points, guess); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(points);
  }
};

centres centres_by_a_loop() {
  centres means = first_centres();
  for (int round = 0; round < rounds; ++round) {
    sums of_all;
    for (std::size_t each = 0; each < blocks; ++each) of_all = add_sums{}(of_all, nearest_of(points_of(each), means));
    means = means_of(of_all, means);
  }
  return means;
}

/// Enough to go on from an image, on any number of ranks.
struct progress {
  nacre::array_ptr<block> all;
  centres means = first_centres();
  int step = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(all, means, step);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    auto p = rt.restored<progress>().value_or(progress{});  // empty in a first start
    if (!p.all) {
      p.all = rt.create_array<block>(nacre::extents{blocks}, [](nacre::index index) {
        return block{points_of(static_cast<std::size_t>(index[0]))};
      });
    }
    const bool leads = rt.rank().value() == 0;
    rt.steps(p, rounds, [&](progress& now) {
      if (leads) now.means = means_of(rt.reduce<&block::nearest>(now.all, add_sums{}, now.means).get(), now.means);
    });
    if (!leads) return;
    const centres expected = centres_by_a_loop();
    double apart = 0;
    for (std::size_t each = 0; each < clusters; ++each) {
      apart += std::abs(p.means[each].x - expected[each].x) + std::abs(p.means[each].y - expected[each].y);
    }
    std::printf("the blocks and the loop %s after %d rounds\n", apart < 1e-9 ? "agree" : "differ", rounds);
  });
}
