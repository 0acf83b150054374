// SPDX-License-Identifier: Apache-2.0
// Threads of the program's own hand work to the ranks: here each stands for the clients of a server.
//
// nacre run -n 2:
// run: --nacre.ranks=2
// prints: 200 deposits, 20100 in all accounts
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

struct account {
  long balance = 0, deposits = 0;
  long deposit(long amount) {
    ++deposits;
    return balance += amount;
  }
  long money() const { return balance; }
  long count() const { return deposits; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(balance, deposits);
  }
};
using bank = nacre::keyed_array_ptr<account, std::string>;

// Runs on a thread that Nacre has not made, as the threads of a web server or of a user interface are.
void serve(const nacre::submitter& door, bank accounts, std::uint32_t client, std::uint32_t clients) {
  for (long number = 1; number <= 200; ++number) {
    if (number % clients != client) continue;
    const std::string name = "account " + std::to_string(number % 7);
    nacre::outside_future<long> balance = door.call<&account::deposit>(accounts[name], number);
    if (balance.get() < number) std::puts("money has been lost");  // this thread waits, no worker does
  }
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const bank accounts = rt.create_array<account>(nacre::keyed_by<std::string>{});
    std::vector<std::jthread> threads;
    for (std::uint32_t each = 0; each < 2; ++each) {
      const std::uint32_t client = 2 * rt.rank().value() + each;
      threads.emplace_back([door = rt.submitter(), accounts, client, clients = 2 * rt.size()] {
        serve(door, accounts, client, clients);
      });
    }
    rt.wait_quiescence();  // not before every thread has given up its submitter
    if (rt.rank().value() != 0) return;
    const long deposits = rt.reduce<&account::count>(accounts, std::plus<>{}).get();
    const long money = rt.reduce<&account::money>(accounts, std::plus<>{}).get();
    std::printf("%ld deposits, %ld in all accounts\n", deposits, money);
  });
}
