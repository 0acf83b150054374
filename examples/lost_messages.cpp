// SPDX-License-Identifier: Apache-2.0
// What becomes of messages to an object that has ended, see docs/mobile_objects.md.
// run: --nacre.ranks=2
// run: --nacre.transport=sim --nacre.ranks=3
// nacre run -n 2:
// prints: the call: failed
// prints: nobody runs &note::append: the object has been destroyed
#include <nacre/nacre.hpp>

#include <atomic>
#include <cstdio>
#include <string>

struct note {
  std::string text;
  void append(const std::string& more) { text += more; }
  std::string read() const { return text; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(text);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    rt.on_delivery_error([](const nacre::delivery_error& lost) {  // on each rank for its own messages
      std::printf("nobody runs %s: %s\n", std::string(lost.handler).c_str(), std::string(lost.why).c_str());
    });
    if (rt.rank().value() != 0) return;
    const auto p = rt.create_on<note>(nacre::rank_id{rt.size() - 1}).get();
    rt.destroy(p);
    try {
      std::puts(rt.call<&note::read>(p).get().c_str());
    } catch (const nacre::call_error&) {
      std::puts("the call: failed");
    }
    rt.send<&note::append>(p, "too late");
  });
}
