// SPDX-License-Identifier: Apache-2.0
// Telemetry: every rank tells rank 0 how far it is, in messages that may be lost, as the next one says more.
//
// run: --nacre.transport=sim --nacre.ranks=4 --nacre.sim.loss_probability=0.3
// run: --nacre.ranks=4
// nacre run -n 3:
// nacre run -n 2 --transport udp:
// prints: rank 0 has seen every rank at work
#include <array>
#include <atomic>
#include <cstdio>
#include <span>
#include <vector>

#include <nacre/nacre.hpp>

struct monitor {
  static constexpr unsigned ranks_max = 64;
  std::array<std::atomic<unsigned>, ranks_max> newest{};  // step of each rank
  std::atomic<unsigned> reports{0}, late{0};

  void take(unsigned rank, unsigned step) {
    ++reports;
    unsigned seen = newest[rank];
    while (step > seen && !newest[rank].compare_exchange_weak(seen, step)) continue;
    if (step < seen) ++late;  // reports keep no order: the newer one has been shown already
  }
};
monitor& seen() {
  static monitor all;
  return all;
}

// The readings are parts of two arrays of the sender, and arrive as one.
void report(nacre::context& ctx, unsigned step, std::span<const double> readings) {
  if (readings.size() == 12) seen().take(ctx.source().value(), step);
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    std::vector<double> temperatures(1000, 20), pressures(1000, 1);
    for (unsigned step = 1; step <= 100; ++step) {
      rt.sleep(1e-4).wait();  // a step of the work
      temperatures[step] += 1;
      // Nobody waits for a report: a network that is full drops it, and the next one is newer anyway.
      rt.send<report>(nacre::with{.reliable = false}, nacre::rank_id{0}, step,
                      nacre::gather(std::span(temperatures).subspan(step, 4), std::span(pressures).last(8)));
    }
    rt.barrier();
    rt.sleep(0.01).wait();  // the last ones may still be on their way
    if (rt.rank().value() != 0) return;
    bool all = true;
    for (unsigned rank = 0; rank < rt.size(); ++rank) all = all && seen().newest[rank] > 0;
    std::printf("%u of %u reports came, %u behind a newer one\n", seen().reports.load(), 100 * rt.size(),
                seen().late.load());
    if (all) std::puts("rank 0 has seen every rank at work");
  });
}
