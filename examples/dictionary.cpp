// SPDX-License-Identifier: Apache-2.0
// A dictionary: one mobile object for each word, found by the word, and compared with a sequential loop.
//
// nacre run -n 2: --nacre.workers=1
// run: --nacre.ranks=3
// run: --nacre.transport=sim --nacre.ranks=4 --nacre.balancer=rotate
// prints: 24 words, nacre: mother of pearl, the lining of shells, all right
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>

struct headword {
  std::string word, meanings;
  headword() = default;
  explicit headword(const std::string& key) : word(key) {}  // made when a message is sent to its key for the first time

  void add(const std::string& meaning) { meanings += (meanings.empty() ? "" : ", ") + meaning; }
  std::string look_up() const { return meanings; }
  int count() const { return 1; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(word, meanings);
  }
};

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    auto dictionary = rt.create_array<headword>(nacre::keyed_by<std::string>{});  // collective

    std::map<std::string, std::string> expected;
    for (int number = 0; number < 22; ++number) {
      const std::string word = "word " + std::to_string(number);
      expected[word] = "meaning " + std::to_string(number);
      if (static_cast<std::uint32_t>(number) % rt.size() == rt.rank().value())
        rt.send<&headword::add>(dictionary[word], expected[word]);
    }
    if (rt.rank().value() == 0) {
      rt.send<&headword::add>(dictionary["nacre"], "mother of pearl");
      rt.send<&headword::add>(dictionary["nacre"], "the lining of shells");
      rt.insert(dictionary, "old").get();  // by hand; erase ends it
      rt.erase(dictionary, "old").get();
    }
    rt.send<&headword::add>(dictionary["shared"], "of all ranks");
    rt.wait_quiescence();

    // Another one, in which each rank is the home of some initials.
    const auto letters = rt.create_array<headword>(
        nacre::keyed_by<std::string>{.home = [](const std::string& word, std::uint32_t ranks) {
          return std::uint32_t(word.at(0) - 'a') * ranks / 26;
        }});
    rt.send<&headword::add>(letters["pearl"], "a gem");
    rt.wait_quiescence();

    bool right = rt.call<&headword::look_up>(letters["pearl"]).get().find("a gem") == 0;
    for (const auto& [word, meaning] : expected)
      right &= rt.call<&headword::look_up>(dictionary[word]).get() == meaning;
    right = rt.all_reduce(right, std::logical_and<>{});
    if (rt.rank().value() == 0) {
      const int words = rt.reduce<&headword::count>(dictionary, std::plus<>{}).get();
      const std::string meanings = rt.call<&headword::look_up>(dictionary["nacre"]).get();
      std::printf("%d words, nacre: %s, %s\n", words, meanings.c_str(), right ? "all right" : "WRONG");
    }
    rt.barrier();
    rt.destroy(letters);
    rt.destroy(dictionary);
  });
}
