// SPDX-License-Identifier: Apache-2.0
// Options that the program itself chooses, see docs/running.md.
// run:
// nacre run -n 2:
// prints: 2 workers
#include <nacre/nacre.hpp>

#include <cstdio>

int main() {
  nacre::config configuration;
  configuration.set("workers", "2");  // any option, as text
  return nacre::run(configuration, [](nacre::runtime& rt) {
    if (rt.rank().value() == 0) std::printf("%u workers\n", rt.workers());
  });
}
