// SPDX-License-Identifier: Apache-2.0
// Step 5 of docs/tutorial.md: the search of step 4, on threads, on processes and on a simulated machine.
// run: 10 --nacre.ranks=2 --nacre.balancer=steal
// run: 10 --nacre.transport=sim --nacre.ranks=16 --nacre.seed=7 --nacre.balancer=steal
// run: 10 --nacre.transport=sim --nacre.ranks=5 --nacre.workers=3 --nacre.seed=8 --nacre.balancer=diffusion
// nacre run -n 2: 10 --nacre.balancer=steal --nacre.workers=1
// prints: 724 solutions
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

constexpr double seconds_a_board = 20e-9;  // what to charge for one on a simulated machine

/// A position with the upper rows filled: what their queens attack in the next one.
struct board {
  std::uint32_t all = 0, columns = 0, left = 0, right = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(all, columns, left, right);
  }
};

struct tally {
  long solutions = 0;
  long parts = 0;

  void add(long found_count) {
    solutions += found_count;
    ++parts;
  }
  void print() const { std::printf("%ld solutions\n%ld parts\n", solutions, parts); }

  template <class Archive>
  void serialize(Archive& ar) {
    ar(solutions, parts);
  }
};

/// A part of the search: boards that nobody has looked at yet.
class part {
 public:
  part() = default;
  part(nacre::mobile_ptr<tally> total, std::vector<board> open) : total_(total), open_(std::move(open)) {}

  void go_on(nacre::context& ctx) {
    int looked = 0;
    for (; looked < 1000 && !open_.empty(); ++looked) look_at_one();
    ctx.charge(looked * seconds_a_board);
    if (open_.empty()) {
      ctx.send<&tally::add>(total_, found_);
      ctx.destroy(ctx.self<part>());
      return;
    }
    if (ctx.wanted_elsewhere() && open_.size() > 1) give_half_away(ctx);
    ctx.send<&part::go_on>(ctx.self<part>());  // and leave the worker to others meanwhile
  }

  double load() const { return static_cast<double>(open_.size()); }  // for the balancer

  template <class Archive>
  void serialize(Archive& ar) {
    ar(total_, open_, found_);
  }

 private:
  void look_at_one() {
    const board b = open_.back();
    open_.pop_back();
    if (b.columns == b.all) ++found_;
    for (std::uint32_t free = b.all & ~(b.columns | b.left | b.right); free != 0; free &= free - 1) {
      const std::uint32_t queen = free & (~free + 1);
      open_.push_back({b.all, b.columns | queen, (b.left | queen) << 1, (b.right | queen) >> 1});
    }
  }

  void give_half_away(nacre::context& ctx) {
    std::vector<board> mine, theirs;  // every second one, so that both get boards with many rows to go
    for (const board& each : open_) (mine.size() > theirs.size() ? theirs : mine).push_back(each);
    open_ = std::move(mine);
    const auto half = ctx.create<part>(total_, std::move(theirs));
    ctx.send<&part::go_on>(half);
  }

  nacre::mobile_ptr<tally> total_;
  std::vector<board> open_;
  long found_ = 0;
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [&](nacre::runtime& rt) {  // argc and argv are without the options of Nacre by now
    const auto size = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 12);
    const double begin = rt.now();
    nacre::mobile_ptr<tally> total;
    if (rt.rank().value() == 0) {
      total = rt.create<tally>();
      const auto whole = rt.create<part>(total, std::vector<board>{{.all = (1u << size) - 1}});
      rt.send<&part::go_on>(whole);
    }
    rt.wait_quiescence();
    const double seconds = rt.all_reduce(rt.now() - begin, [](double a, double b) { return a < b ? b : a; });
    if (rt.rank().value() != 0) return;
    rt.send<&tally::print>(total);
    std::printf("%.6f seconds on %u ranks\n", seconds, rt.size());
  });
}
