// SPDX-License-Identifier: Apache-2.0
// The program of docs/checkpoints.md: a job that goes on from the newest of its images.
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=4
// nacre run -n 2: 100 --nacre.workers=1
// prints: 100 steps on 64 blocks, 100 words
#include <nacre/containers/counting_set.hpp>
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

struct block {
  std::vector<double> values = std::vector<double>(100, 1.0);
  std::uint64_t steps = 0;
  void run(int step) {
    for (double& each : values) each = each * 0.99 + step * 1e-3;
    ++steps;
  }
  std::uint64_t done() const { return steps; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(values, steps);
  }
};

struct progress {
  nacre::array_ptr<block> grid;
  nacre::counting_set_handle<std::string> words;
  int step = 0;
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [&](nacre::runtime& rt) {
    const int steps = argc > 1 ? std::atoi(argv[1]) : 100;
    auto p = rt.restored<progress>().value_or(progress{});  // empty in a first start
    if (!p.grid) p.grid = rt.create_array<block>(nacre::extents{8, 8});
    nacre::counting_set<std::string> words(rt, p.words);
    p.words = words.handle();
    rt.steps(p, steps, [&](progress& now) {  // for each step from p.step on
      if (rt.rank().value() != 0) return;
      rt.send<&block::run>(now.grid, now.step);
      words.insert("step " + std::to_string(now.step % 10));
    });  // then ++p.step, then rt.wait_quiescence(p)
    const std::uint64_t done = rt.reduce<&block::done>(p.grid, std::plus<>{}).get() / 64;
    const std::uint64_t count = words.count_all();
    if (rt.rank().value() == 0)
      std::printf("%d steps on 64 blocks, %d words\n", static_cast<int>(done), static_cast<int>(count));
  });
}
