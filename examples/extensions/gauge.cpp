// SPDX-License-Identifier: Apache-2.0
// The program of docs/extensions.md: with the argument "load" it loads the gauge, else it is linked in.
// run: --nacre.ranks=4
// run: load --nacre.ranks=2 --nacre.extension=gauge.so
// run: --nacre.transport=sim --nacre.ranks=12
// nacre run -n 3 --transport tcp: load --nacre.workers=1 --nacre.extension=gauge.so
// nacre run -n 3 --transport shm: --nacre.workers=1
// prints: the largest value is that of the last rank
#include <nacre/command_program.hpp>
#include <nacre/nacre.hpp>

#include <cstdio>
#include <memory>
#include <string_view>

#include "gauge.hpp"

void ask(nacre::runtime& rt) {
  const nacre::extension_ref gauges = rt.extension("gauge");
  const std::int64_t mine = rt.rank().value() * std::int64_t{10};
  gauges.command(rt.rank(), gauge::set, std::as_bytes(std::span(&mine, 1))).get();
  rt.barrier();

  std::int64_t most = 0;
  const auto result = rt.expose(std::span(&most, 1));
  nacre::command_program steps(rt);
  steps.command(gauges, rt.rank(), gauge::largest).wait().scatter(result, 0, 1);
  steps.start().get();  // could be started again
  rt.withdraw(result);
  if (rt.rank().value() == 0 && most == (rt.size() - std::int64_t{1}) * 10) {
    std::printf("the largest value is that of the last rank\n");
  }
}

int main(int argc, char** argv) {
  const bool loads = argc > 1 && std::string_view(argv[1]) == "load";
  if (!loads) nacre::register_extension("gauge", [](const nacre::config&) { return std::make_unique<gauge>(); });
  return nacre::run(argc, argv, ask);
}
