// SPDX-License-Identifier: Apache-2.0
// A program whose ranks meet once. It is linked alone, and with the handler of more.cpp.
#include <cstdio>

#include <nacre/nacre.hpp>

namespace {

void greet(nacre::context&) {}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    rt.send<greet>(nacre::to_all);
    rt.wait_quiescence();
    if (rt.rank() == nacre::rank_id{0}) std::puts("all ranks have met");
  });
}
