// SPDX-License-Identifier: Apache-2.0
// The programs of docs/arrays.md: making arrays, placements, sections, contributions of all elements and of a section.
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=4 --nacre.balancer=rotate
// nacre run -n 2: --nacre.workers=1
// prints: every cell has run two steps
// prints: the diagonal has met the corner
// prints: 4 columns are where they should be, 8228 steps in all
// prints: 4096 cells, 252 of them on the border
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

struct driver {
  std::vector<double> sums = std::vector<double>(2);
  void on_sum(nacre::context& ctx, std::uint64_t step, double sum);
  std::vector<double> get() const { return sums; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sums);
  }
};
void driver::on_sum(nacre::context&, std::uint64_t step, double sum) { sums.at(step) = sum; }

class cell {
 public:
  cell() = default;
  cell(std::int64_t row, std::int64_t column) : row_(row), column_(column) {}

  void step(int count) { steps_ += count; }
  double norm() const { return steps_; }

  void share(nacre::context& ctx, std::uint64_t step, nacre::mobile_ptr<driver> leader) {
    const double value = 1;
    ctx.contribute<&driver::on_sum>(step, value, std::plus<>{}, leader);  // an object, a rank_id or an array_ptr
  }
  void settle(nacre::context& ctx, nacre::section_ptr border, std::uint64_t step, nacre::mobile_ptr<driver> leader) {
    const double value = 1;
    ctx.contribute<&driver::on_sum>(border, step, value, std::plus<>{}, leader);
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(row_, column_, steps_);
  }

 private:
  std::int64_t row_ = 0, column_ = 0;
  int steps_ = 0;
};

struct by_column {
  nacre::rank_id operator()(const nacre::index& index, const nacre::extents&, std::uint32_t ranks) const {
    return nacre::rank_id(static_cast<std::uint32_t>(index[1]) % ranks);
  }
};

struct by_column_listed : by_column {
  template <class Visit>  // calls visit(index) for each place of `rank`, the last dimension running fastest
  void for_each_place(nacre::rank_id rank, const nacre::extents& shape, std::uint32_t ranks, Visit&& visit) const {
    for (std::int64_t row = 0; row < shape[0]; ++row) {
      for (std::int64_t column = rank.value(); column < shape[1]; column += ranks) visit(nacre::index{row, column});
    }
  }
};

/// Collective. Returns how many of the first four columns have their home where both placements say.
int place_by_column(nacre::runtime& rt) {
  const auto make = [](nacre::index index) { return cell{index[0], index[1]}; };
  const auto some = rt.create_array<cell>(nacre::array_options{.location = nacre::location_policy::path_update},
                                          nacre::extents{8, 8}, make);
  rt.destroy(some);
  const auto tiles = rt.create_array<cell>(nacre::extents{12, 12}, make, nacre::by_tile{});
  rt.destroy(tiles);

  auto grid = rt.create_array<cell>(nacre::extents{8, 8}, make, by_column{});  // array_ptr<cell, by_column>
  const auto listed = rt.create_array<cell>(nacre::extents{8, 8}, make, by_column_listed{});
  int count = 0;
  for (std::uint32_t column = 0; column < 4; ++column) {
    const nacre::rank_id home{column % rt.size()};
    count += grid.home_of({3, column}) == home && listed.home_of({3, column}) == home;
  }
  rt.barrier();
  rt.destroy(grid);
  rt.destroy(listed);
  return count;
}

/// Called by one main. Returns the steps that the cells of the diagonal have run.
double send_to_sections(nacre::runtime& rt, nacre::array_ptr<cell> grid) {
  const nacre::section diagonal(
      grid, [](const nacre::index& index) { return index[0] == index[1]; });      // looks at every place
  const nacre::section corner(grid, nacre::index_range{{0, 0}, {8, 8}, {1, 2}});  // first, last, stride
  const nacre::section three(grid, std::vector<nacre::index>{{5, 0}, {0, 3}, {2, 2}});
  rt.send<&cell::step>(three, 1);
  rt.call<&cell::step>(corner, 1).get();
  return rt.reduce<&cell::norm>(diagonal, std::plus<>{}).get();  // rank by rank, in the order of the places
}

/// Called by one main. Lets all cells contribute to `leader` for step 0, and those of the border for their own step 1.
nacre::section_ptr let_contribute(nacre::runtime& rt, nacre::array_ptr<cell> grid, nacre::mobile_ptr<driver> leader) {
  rt.send<&cell::share>(grid, std::uint64_t{0}, leader);

  const auto is_on_border = [](const nacre::index& index) { return index[0] % 63 == 0 || index[1] % 63 == 0; };
  const nacre::section cells(grid, is_on_border);
  const nacre::section_ptr border = rt.create_section(cells).get();  // in a handler: co_await
  rt.send<&cell::settle>(cells, border, std::uint64_t{1}, leader);
  return border;
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    auto grid = rt.create_array<cell>(nacre::extents{64, 64}, [](nacre::index ij) { return cell{ij[0], ij[1]}; });

    const int columns = place_by_column(rt);
    double diagonal = 0;
    nacre::mobile_ptr<driver> leader;
    nacre::section_ptr border;
    if (rt.rank().value() == 0) {
      const int i = 1, j = 1;
      rt.send<&cell::step>(grid[{i, j}], 1);  // one element
      rt.send<&cell::step>(grid, 1);          // every element
      rt.call<&cell::step>(grid, 1).get();    // and wait until all have run it
      const double sum = rt.reduce<&cell::norm>(grid, std::plus<>{}).get();
      std::printf("%s\n", sum >= 8192 ? "every cell has run two steps" : "a step is missing");
      diagonal = send_to_sections(rt, grid);
      leader = rt.create<driver>();
      border = let_contribute(rt, grid, leader);
    }
    rt.wait_quiescence();
    if (rt.rank().value() != 0) return;
    rt.destroy_section(border).get();
    const auto sums = rt.call<&driver::get>(leader).get();
    const double steps = rt.reduce<&cell::norm>(grid, std::plus<>{}).get();
    std::printf("%d columns are where they should be, %.0f steps in all\n", columns, steps);
    std::printf("%.0f cells, %.0f of them on the border\n", sums[0], sums[1]);
    std::printf("%s\n", diagonal >= 132 ? "the diagonal has met the corner" : "a step of the diagonal is missing");
  });
}
