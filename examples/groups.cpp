// SPDX-License-Identifier: Apache-2.0
// Data of every rank in a group: words are counted where their hash sends them, by lambdas.
//
// run: --nacre.ranks=3
// run: --nacre.ranks=3 --nacre.transport=sim
// nacre run -n 3:
// prints: 6 times 'the', which 2 ranks do not have
#include <nacre/nacre.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>

class tally {
 public:
  void add(const std::string& word) {
    const std::scoped_lock lock(mutex_);  // handlers on a group run at the same time
    ++counts_[word];
  }
  long count(const std::string& word) const {
    const std::scoped_lock lock(mutex_);
    const auto match = counts_.find(word);
    return match == counts_.end() ? 0 : match->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, long> counts_;  // under mutex_
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    const auto words = rt.create_group<tally>();  // collective: one tally on every rank
    const auto home = [&](const std::string& word) {
      return words[nacre::rank_id(static_cast<std::uint32_t>(std::hash<std::string>{}(word) % rt.size()))];
    };
    for (const std::string word : {"the", "pearl", "in", "the", "shell"}) rt.send<&tally::add>(home(word), word);
    rt.send(words, [](tally& part, nacre::context& ctx) { part.add("of " + std::to_string(ctx.source().value())); });
    rt.wait_quiescence();

    if (rt.rank().value() != 0) return;
    const auto without = [](const tally& part, std::string word) { return part.count(word) == 0 ? 1 : 0; };
    const long the = rt.call<&tally::count>(home("the"), "the").get();
    const int ranks = rt.reduce(words, without, std::plus<>{}, "the").get();
    std::printf("%ld times 'the', which %d ranks do not have\n", the, ranks);
    rt.local(words).add("mine");  // in main and in handlers: the tally of this rank
  });
}
