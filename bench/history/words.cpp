// SPDX-License-Identifier: Apache-2.0
// A count of words with one message for each word, as a user writes it; and the time of starting a job.
#include <nacre/nacre.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

/// The n-th word of a text in which the k-th commonest of 200,000 words comes about as often as 1 / k.
std::string word_of(std::uint64_t n) {
  n = (n + 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;
  n ^= n >> 29;
  n *= 0x94d049bb133111ebU;
  const double fraction = static_cast<double>(n >> 11) * 0x1.0p-53;
  return "w" + std::to_string(static_cast<std::uint64_t>(std::pow(200'000.0, fraction)));
}

class shelf {
 public:
  void add(std::string_view word) { ++counts_[std::string(word)]; }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& [word, count] : counts_) sum += count;
    return sum;
  }
  [[nodiscard]] std::uint64_t distinct() const { return counts_.size(); }
  [[nodiscard]] bool may_migrate() const { return false; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(counts_);
  }

 private:
  std::unordered_map<std::string, std::uint64_t> counts_;
};

}  // namespace

int main(int argc, char** argv) {
  bool right = true;
  const int code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
    const std::uint64_t words = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3'000'000;
    const auto shelves = rt.create_array<shelf>(nacre::extents{rt.size() * rt.workers()});
    const std::uint64_t count = shelves.shape().count(), rank = rt.rank().value();
    const double begin = rt.now();
    for (std::uint64_t n = words * rank / rt.size(); n < words * (rank + 1) / rt.size(); ++n) {
      const std::string word = word_of(n);
      rt.send<&shelf::add>(shelves[static_cast<std::int64_t>(std::hash<std::string>{}(word) % count)], word);
    }
    rt.wait_quiescence();
    const double seconds = rt.now() - begin;
    if (rank != 0) return;
    right = rt.reduce<&shelf::total>(shelves, std::plus<>{}).get() == words;
    std::printf("words\t%.4g\tM/s\n", 1e-6 * static_cast<double>(words) / seconds);
    if (!right) std::fputs("words: some are missing\n", stderr);
  });
  return code != 0 ? code : right ? 0 : 3;
}
