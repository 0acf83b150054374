// SPDX-License-Identifier: Apache-2.0
// Half a round trip of messages, calls, gets and puts between ranks 0 and 1, as a user writes them.
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

namespace {

class player {
 public:
  void hit(nacre::context& ctx, nacre::mobile_ptr<player> object, long left) {
    ++hits_;
    if (left > 0) ctx.send<&player::hit>(object, ctx.self<player>(), left - 1);
  }
  [[nodiscard]] long hits() const { return hits_; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(hits_);
  }

 private:
  long hits_ = 0;
};

void bounce(nacre::context& ctx, long left) {
  if (left > 0) ctx.send<bounce>(ctx.source(), left - 1);
}

long successor(long number) { return number + 1; }

}  // namespace

int main(int argc, char** argv) {
  bool right = true;
  const int code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
    const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 20'000;
    const nacre::rank_id zero{0}, peer{rt.size() > 1 ? 1U : 0U};
    std::vector<long> memory(8);
    const auto exposed = rt.all_gather(rt.expose(std::span(memory)));
    const auto players = rt.create_array<player>(nacre::extents{rt.size()});
    const auto tell = [&](const char* name, double seconds) {
      if (rt.rank() == zero) std::printf("%s\t%.4g\tM/s\n", name, 1e-6 * static_cast<double>(2 * rounds) / seconds);
    };
    double begin = rt.now();
    if (rt.rank() == zero) rt.send<bounce>(peer, 2 * rounds - 1);
    rt.wait_quiescence();
    tell("trips to a rank", rt.now() - begin);
    begin = rt.now();
    if (rt.rank() == zero) rt.send<&player::hit>(players[peer.value()], players[0], 2 * rounds - 1);
    rt.wait_quiescence();
    tell("trips to an object", rt.now() - begin);
    if (rt.rank() == zero) {
      right &= rt.reduce<&player::hits>(players, std::plus<>{}).get() == 2 * rounds;
      begin = rt.now();
      for (long i = 0; i < rounds; ++i) right &= rt.call<successor>(peer, i).get() == i + 1;
      tell("trips of calls", rt.now() - begin);
      std::vector<long> values(8);
      begin = rt.now();
      for (long i = 0; i < rounds; ++i) {
        values[0] = i;
        rt.put(exposed[peer.value()], 0, std::span(values)).get();
      }
      tell("puts of 64 bytes", rt.now() - begin);
      begin = rt.now();
      for (long i = 0; i < rounds; ++i) rt.get(exposed[peer.value()], 0, std::span(values)).get();
      tell("gets of 64 bytes", rt.now() - begin);
      right &= values[0] == rounds - 1;
    }
    rt.barrier();
    rt.withdraw(exposed[rt.rank().value()]);
    if (rt.rank() == zero && !right) std::fputs("round_trips: a number is wrong\n", stderr);
  });
  return code != 0 ? code : right ? 0 : 3;
}
