// SPDX-License-Identifier: Apache-2.0
// Who may touch a mobile object, and when: handlers by const, main by a lock, several by colocate.
//
// run: --nacre.ranks=3
// run: --nacre.ranks=4 --nacre.transport=sim
// nacre run -n 2:
//
// prints: 30 in all, 10 and 20 left, 6 each
#include <nacre/nacre.hpp>

#include <cstdio>
#include <span>
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

void transfer(account& source, account& target, long amount) {
  source.balance -= amount;
  target.balance += amount;
}

void level(std::span<account* const> all) {
  long sum = 0;
  for (const account* each : all) sum += each->balance;
  for (account* each : all) each->balance = sum / static_cast<long>(all.size());
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank() != nacre::rank_id{0}) return;
    const auto p = rt.create_on<account>(nacre::rank_id{rt.size() - 1}).get();
    rt.send<&account::pay>(p, 10);

    // Main itself is alone on the object, behind the payment that it has sent; the object comes to its rank for that.
    const long previous = rt.with_exclusive(p, [](account& mine) {
      const long was = mine.balance;
      mine.balance = 30;
      return was;
    });
    const long all = previous == 10 ? rt.with_shared(p, [](const account& mine) { return mine.balance; }) : -1;

    // Two accounts, on different ranks, both alone.
    const auto q = rt.create_on<account>(nacre::rank_id{rt.size() - 1}).get();
    rt.colocate<transfer>(p, q, 20L);

    // As many as there are: known at run time only.
    std::vector<nacre::mobile_ptr<account>> others{rt.create<account>(4L), rt.create<account>(8L)};
    rt.colocate<level>(others);
    const long each_of_others = rt.call<&account::read>(others[0]).get();

    auto left = rt.call<&account::read>(p);
    std::printf("%ld in all, %ld and %ld left, %ld each\n", all, left.get(), rt.call<&account::read>(q).get(),
                each_of_others);
  });
}
