// SPDX-License-Identifier: Apache-2.0
// How classes say what of them travels, see docs/mobile_objects.md.
// run: --nacre.ranks=2 --nacre.check_serialization
// run: --nacre.transport=sim --nacre.ranks=2
// nacre run -n 2:
// prints: coast has 2 parts, 7.5 long, and river is word 1
#include <nacre/nacre.hpp>

#include <cstddef>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace geo {  // a library that does not know Nacre
struct line {
  std::string name;
  std::vector<double> lengths;
};
}  // namespace geo

namespace geo {  // beside it, in the program
template <class Archive>
void serialize(Archive& ar, line& value) {
  ar(value.name, value.lengths);
}
}  // namespace geo

class word_list {
 public:
  explicit word_list(std::vector<std::string> words) : words_(std::move(words)) { number(); }
  explicit word_list(nacre::deserialize_tag) {}  // makes an object that load fills
  std::size_t number_of(const std::string& word) const { return numbers_.at(word); }

 private:
  friend class nacre::archive_access;
  template <class Archive>
  void save(Archive& ar) const {
    ar(words_);
  }
  template <class Archive>
  void load(Archive& ar) {
    ar(words_);
    number();
  }
  void number() {
    for (std::size_t i = 0; i < words_.size(); ++i) numbers_.emplace(words_[i], i);
  }

  std::vector<std::string> words_;
  std::map<std::string, std::size_t> numbers_;
};

std::string describe(const geo::line& line, const word_list& words) {
  char text[80];
  const double sum = std::accumulate(line.lengths.begin(), line.lengths.end(), 0.0);
  std::snprintf(text, sizeof text, "%s has %zu parts, %.1f long, and river is word %zu", line.name.c_str(),
                line.lengths.size(), sum, words.number_of("river"));
  return text;
}

int main(int argc, char** argv) {
  return nacre::run(argc, argv, [](nacre::runtime& rt) {
    if (rt.rank().value() != 0) return;
    const geo::line coast{"coast", {3, 4.5}};
    const word_list words({"coast", "river"});
    std::puts(rt.call<describe>(nacre::rank_id{1}, coast, words).get().c_str());
  });
}
