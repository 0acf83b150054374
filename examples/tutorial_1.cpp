// SPDX-License-Identifier: Apache-2.0
// Step 1 of docs/tutorial.md: every rank sends a greeting to rank 0.
// run: --nacre.ranks=3
// prints: hello from rank 2 of 3
// prints: hello from rank 0 of 3
#include <nacre/nacre.hpp>

#include <cstdio>
#include <string>

void hear(nacre::context& ctx, const std::string& greeting) {
  std::printf("%s from rank %u of %u\n", greeting.c_str(), ctx.source().value(), ctx.size());
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {  // called once on every rank
    rt.send<hear>(nacre::rank_id{0}, "hello");
  });
}
