// SPDX-License-Identifier: Apache-2.0
// A user's program: every rank calls its right neighbour; a mobile object counts the answers while it moves.
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

std::string greeting(const std::string& name) { return "hello, " + name; }

struct answers {
  std::uint32_t count = 0;
  void add(const std::string& answer) {
    if (answer == "hello, neighbour") ++count;
  }
  std::uint32_t get() const { return count; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(count);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const auto neighbour = nacre::rank_id{(rt.rank().value() + 1) % rt.size()};
    nacre::mobile_ptr<answers> all;
    if (rt.rank().value() == 0) all = rt.create<answers>();
    all = rt.broadcast(all, nacre::rank_id{0});
    rt.send<&answers::add>(all, rt.call<greeting>(neighbour, "neighbour").get());
    if (rt.rank().value() == 0) rt.migrate(all, neighbour);
    rt.wait_quiescence();
    const std::uint32_t count = rt.call<&answers::get>(all).get();
    if (count != rt.size()) std::abort();
    if (rt.rank().value() == 0) std::printf("%u answers on %u ranks, nacre %s\n", count, rt.size(), nacre::version());
  });
}
