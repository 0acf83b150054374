// SPDX-License-Identifier: Apache-2.0
// Step 4 of docs/tutorial.md: work that splits when others want some, and that a balancer moves.
// run: --nacre.ranks=2 --nacre.balancer=steal
// run: --nacre.ranks=3 --nacre.balancer=diffusion
// run: --nacre.ranks=1 --nacre.workers=2
// prints: 14200 solutions
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

constexpr std::uint32_t size = 12;
constexpr std::uint32_t all_columns = (1u << size) - 1;

/// A position with the upper rows filled: what their queens attack in the next one.
struct board {
  std::uint32_t columns = 0, left = 0, right = 0;

  template <class Archive>
  void serialize(Archive& ar) {
    ar(columns, left, right);
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
    for (int looked = 0; looked < 1000 && !open_.empty(); ++looked) look_at_one();
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
    if (b.columns == all_columns) ++found_;
    for (std::uint32_t free = all_columns & ~(b.columns | b.left | b.right); free != 0; free &= free - 1) {
      const std::uint32_t queen = free & (~free + 1);
      open_.push_back({b.columns | queen, (b.left | queen) << 1, (b.right | queen) >> 1});
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
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    nacre::mobile_ptr<tally> total;
    if (rt.rank().value() == 0) {
      total = rt.create<tally>();
      const auto whole = rt.create<part>(total, std::vector<board>{{}});
      rt.migrate(whole, nacre::rank_id{rt.size() - 1});  // by hand: the search begins on the last rank
      rt.send<&part::go_on>(whole);                      // follows it there
    }
    rt.wait_quiescence();  // all work is done: every other main waits, too, or has ended
    if (rt.rank().value() == 0) rt.send<&tally::print>(total);
  });
}
