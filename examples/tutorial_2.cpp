// SPDX-License-Identifier: Apache-2.0
// Step 2 of docs/tutorial.md: a mobile object that all ranks send messages to.
// run: --nacre.ranks=4
// prints: 4 messages, sum 6
#include <nacre/nacre.hpp>

#include <cstdio>

struct tally {
  long sum = 0;
  long messages = 0;

  void add(long n) {
    sum += n;
    ++messages;
  }
  void print() const { std::printf("%ld messages, sum %ld\n", messages, sum); }

  template <class Archive>
  void serialize(Archive& ar) {  // lets it move to another rank
    ar(sum, messages);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    nacre::mobile_ptr<tally> total;
    if (rt.rank().value() == 0) total = rt.create<tally>();
    total = rt.broadcast(total, nacre::rank_id{0});  // a mobile pointer means the same on every rank

    rt.send<&tally::add>(total, rt.rank().value());
    rt.wait_quiescence();  // every message above has run, and all that they have caused
    if (rt.rank().value() == 0) rt.send<&tally::print>(total);
  });
}
