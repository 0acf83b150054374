// SPDX-License-Identifier: Apache-2.0
// Word count: every rank reads its part of a text; the counts of all ranks are compared with a sequential loop.
//
// nacre run -n 2: --nacre.workers=1
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=4
// prints: 6 x the, all right
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>

#include <nacre/containers/counting_set.hpp>
#include <nacre/nacre.hpp>

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    nacre::counting_set<std::string> words(rt);
    std::map<std::string, std::uint64_t> expected;
    std::istringstream text("the cat saw the dog and the dog saw the bird but the bird saw neither the cat nor them");
    std::uint32_t number = 0;
    for (std::string word; text >> word; ++expected[word]) {
      if (number++ % rt.size() == rt.rank().value()) words.insert(word);
    }
    rt.wait_quiescence();
    bool right = words.size() == expected.size();
    words.for_all([&](const std::string& word, std::uint64_t count) { right &= count == expected[word]; });
    right = rt.all_reduce(right, std::logical_and<>{});
    const auto [word, count] = words.top(1).front();
    if (rt.rank().value() == 0) std::printf("%d x %s, %s\n", int(count), word.c_str(), right ? "all right" : "WRONG");
  });
}
