// SPDX-License-Identifier: Apache-2.0
// The words and the edges that the benchmark of containers uses; equal for all libraries.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace workload {

/// A small fast generator of random numbers.
struct mixer {
  std::uint64_t state;
  std::uint64_t next() noexcept {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

/// Different words of 2 to 12 letters, the most frequent first.
inline std::vector<std::string> vocabulary(std::uint32_t size) {
  std::vector<std::string> words(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    mixer random{i};
    std::string& word = words[i];
    for (std::uint32_t rest = i; rest != 0 || word.empty(); rest /= 26) {
      word += static_cast<char>('a' + rest % 26);
    }
    word += '-';  // no word is the beginning of another one with letters appended
    const std::uint64_t more = random.next() % 7;
    for (std::uint64_t k = 0; k < more; ++k) word += static_cast<char>('a' + random.next() % 26);
  }
  return words;
}

/// Numbers of words by Zipf's law: word i comes 1 / (i + 1) as often as word 0. Different for each rank.
inline std::vector<std::uint32_t> zipf(std::uint64_t count, std::uint32_t vocabulary, std::uint32_t rank) {
  std::vector<double> sums(vocabulary);
  double sum = 0;
  for (std::uint32_t i = 0; i < vocabulary; ++i) sums[i] = sum += 1.0 / (i + 1);
  mixer random{rank + 1000u};
  std::vector<std::uint32_t> drawn(count);
  for (std::uint32_t& each : drawn) {
    const auto position = std::lower_bound(sums.begin(), sums.end(), random.unit() * sum);
    each = static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(position - sums.begin(), vocabulary - 1));
  }
  return drawn;
}

using edge = std::pair<std::uint64_t, std::uint64_t>;

/// Edges of an R-MAT graph of 2^scale vertices (Chakrabarti, Zhan and Faloutsos, SDM 2004; Graph500's parameters).
/// Different for each rank.
inline std::vector<edge> rmat(std::uint64_t count, std::uint32_t scale, std::uint32_t rank) {
  mixer random{rank + 2000u};
  std::vector<edge> edges(count);
  for (edge& each : edges) {
    for (std::uint32_t bit = 0; bit < scale; ++bit) {
      const double draw = random.unit();
      const std::uint64_t row = draw < 0.76 ? 0 : 1;
      const std::uint64_t column = draw < 0.57 || (draw >= 0.76 && draw < 0.95) ? 0 : 1;
      each = {each.first * 2 + row, each.second * 2 + column};
    }
  }
  return edges;
}

/// The number of sets that the edges of `ranks` ranks leave, and the number of items in them; by one process.
struct sets_counted {
  std::uint64_t sets = 0, items = 0;
};
class serial_sets {
 public:
  explicit serial_sets(std::uint32_t scale) : parent_(std::size_t{1} << scale), seen_(parent_.size()) {
    for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<std::uint32_t>(i);
  }
  void unite(const edge& edge) {
    seen_[edge.first] = seen_[edge.second] = true;
    parent_[root(edge.first)] = static_cast<std::uint32_t>(root(edge.second));
  }
  [[nodiscard]] sets_counted count() {
    sets_counted all;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      all.items += seen_[i] ? 1u : 0u;
      all.sets += seen_[i] && root(i) == i ? 1u : 0u;
    }
    return all;
  }

 private:
  std::size_t root(std::size_t index) {
    while (parent_[index] != index) index = parent_[index] = parent_[parent_[index]];
    return index;
  }
  std::vector<std::uint32_t> parent_;
  std::vector<bool> seen_;
};

}  // namespace workload
