// SPDX-License-Identifier: Apache-2.0
// Who may touch a mobile object, and when: handlers by const, main by a lock.
//
// run: --nacre.ranks=3
// run: --nacre.ranks=4 --nacre.transport=sim
// nacre run -n 2:
//
// prints: 30 in all, 0 left
#include <nacre/nacre.hpp>

#include <cstdio>
#include <vector>

struct account {
  long balance = 0;
  bool audited = false;
  void pay(long amount) { balance += amount; }  // not const: alone on its object
  long read() const { return balance; }         // const: beside other const handlers
  bool may_migrate() const { return !audited; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(balance, audited);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank() != nacre::rank_id{0}) return;
    const auto p = rt.create_on<account>(nacre::rank_id{rt.size() - 1}).get();
    rt.send<&account::pay>(p, 10);

    // Main itself is alone on the object, behind the payment that it has sent; the object comes to its rank for that.
    const long before = rt.with_exclusive(p, [](account& mine) {
      const long was = mine.balance;
      mine.balance = 30;
      return was;
    });
    const long all = before == 10 ? rt.with_shared(p, [](const account& mine) { return mine.balance; }) : -1;

    rt.send<&account::pay>(p, -30);
    std::printf("%ld in all, %ld left\n", all, rt.call<&account::read>(p).get());
  });
}
