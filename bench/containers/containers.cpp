// SPDX-License-Identifier: Apache-2.0
// How many operations on containers are made and run in a second, beside a loop over one hash map of one process?
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/containers/bag.hpp>
#include <nacre/containers/counting_set.hpp>
#include <nacre/containers/disjoint_set.hpp>
#include <nacre/containers/map.hpp>
#include <nacre/nacre.hpp>

#include "containers/workload.hpp"

namespace {

struct options {
  std::uint64_t words = 4'000'000;
  std::uint32_t vocabulary = 100'000;
  std::uint32_t scale = 20;
  std::uint32_t edge_factor = 4;
  std::uint32_t runs = 3;
  std::string only;
  bool json = false;
};

struct measurement {
  double rate = 0;  // millions a second, over all ranks
  bool right = false;
};

/// Times `body` and the quiescence after it, on the rank that takes longest.
double seconds_of(nacre::runtime& rt, const std::function<void()>& body) {
  rt.wait_quiescence();
  const double begin = rt.now();
  body();
  rt.wait_quiescence();
  return rt.all_reduce(rt.now() - begin, [](double a, double b) { return a < b ? b : a; });
}

class bench {
 public:
  bench(nacre::runtime& rt, const options& options)
      : rt_(rt),
        options_(options),
        words_(workload::vocabulary(options.vocabulary)),
        drawn_(workload::zipf(options.words / rt.size(), options.vocabulary, rt.rank().value())),
        edges_(workload::rmat((std::uint64_t{options.edge_factor} << options.scale) / rt.size(), options.scale,
                              rt.rank().value())) {
    most_ = rt.all_reduce(static_cast<std::uint64_t>(std::count(drawn_.begin(), drawn_.end(), 0u)), std::plus<>{});
    total_ = rt.all_reduce(drawn_.size(), std::plus<>{});
  }

  measurement counting_set() {
    nacre::counting_set<std::string> counts(rt_);
    const double seconds = seconds_of(rt_, [&] {
      for (const std::uint32_t each : drawn_) counts.insert(words_[each]);
    });
    return {rate(total_, seconds), counts.count_all() == total_ && counts.count(words_[0]) == most_};
  }
  measurement map_visit() {
    nacre::map<std::string, std::uint64_t> counts(rt_);
    const double seconds = seconds_of(rt_, [&] {
      for (const std::uint32_t each : drawn_) {
        counts.visit(words_[each], [](const std::string&, std::uint64_t& count) { ++count; });
      }
    });
    return {rate(total_, seconds), counts.reduce(std::plus<>{}) == total_ && counts.find(words_[0]) == most_};
  }
  measurement bag() {
    nacre::bag<std::uint64_t> all(rt_);
    const double seconds = seconds_of(rt_, [&] {
      for (const std::uint32_t each : drawn_) all.insert(each);
    });
    std::uint64_t sum = 0;
    for (const std::uint32_t each : drawn_) sum += each;
    sum = rt_.all_reduce(sum, std::plus<>{});
    return {rate(total_, seconds), all.size() == total_ && all.reduce(std::plus<>{}) == sum};
  }
  measurement disjoint_set() {
    nacre::disjoint_set<std::uint64_t> sets(rt_);
    std::uint64_t count = 0;
    const double seconds = seconds_of(rt_, [&] {
      for (const auto& [source, target] : edges_) sets.union_(source, target);
      count = sets.num_sets();
    });
    workload::serial_sets serial(options_.scale);
    for (std::uint32_t rank = 0; rank < rt_.size(); ++rank) {
      for (const auto& each : workload::rmat(edges_.size(), options_.scale, rank)) serial.unite(each);
    }
    const workload::sets_counted known = serial.count();
    return {rate(edges_.size() * rt_.size(), seconds), count == known.sets && sets.size() == known.items};
  }
  /// All words on one rank, by hand.
  measurement by_hand() {
    double seconds = 0;
    std::uint64_t sum = 0;
    if (rt_.rank().value() == 0) {
      const double begin = rt_.now();
      std::unordered_map<std::string, std::uint64_t> counts;
      for (std::uint32_t i = 0; i < rt_.size(); ++i) {
        for (const std::uint32_t each : drawn_) ++counts[words_[each]];
      }
      seconds = rt_.now() - begin;
      for (const auto& [word, count] : counts) sum += count;
    }
    rt_.barrier();
    const bool right = rt_.rank().value() != 0 || sum == total_;
    return {rt_.rank().value() == 0 ? rate(total_, seconds) : 0, right};
  }

 private:
  static double rate(std::uint64_t count, double seconds) { return static_cast<double>(count) / seconds * 1e-6; }

  nacre::runtime& rt_;
  const options& options_;
  std::vector<std::string> words_;
  std::vector<std::uint32_t> drawn_;
  std::vector<workload::edge> edges_;
  std::uint64_t most_ = 0, total_ = 0;
};

bool measure(nacre::runtime& rt, const options& options) {
  bench all(rt, options);
  const std::pair<const char*, measurement (bench::*)()> variants[] = {{"counting_set", &bench::counting_set},
                                                                       {"map_visit", &bench::map_visit},
                                                                       {"bag", &bench::bag},
                                                                       {"disjoint_set", &bench::disjoint_set},
                                                                       {"one hash map", &bench::by_hand}};
  bool right = true;
  for (std::uint32_t run = 0; run < options.runs; ++run) {
    for (const auto& [name, variant] : variants) {
      if (!options.only.empty() && options.only != name) continue;
      const measurement one = (all.*variant)();
      right &= one.right;
      if (rt.rank().value() != 0) continue;
      if (options.json) {
        fmt::print(
            "{}\n",
            nlohmann::json{
                {"library", "nacre"}, {"variant", name}, {"run", run}, {"millions", one.rate}, {"right", one.right}}
                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
      } else {
        fmt::print("{:<6} {:<14} {:8.2f} M/s  {}\n", "nacre", name, one.rate, one.right ? "right" : "WRONG");
      }
    }
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    options asked;
    nacre::program_options options("containers", "Operations on containers: how many are made and run in a second?");
    options.add("--words", asked.words, "Words over all ranks, drawn by Zipf's law");
    options.add("--vocabulary", asked.vocabulary, "Different words");
    options.add("--scale", asked.scale, "Vertices of the R-MAT graph, as a power of two");
    options.add("--edge-factor", asked.edge_factor, "Edges for each vertex");
    options.add("--runs", asked.runs, "How often each is measured");
    options.add("--only", asked.only, "One variant: counting_set, map_visit, bag, disjoint_set, one hash map");
    options.add("--json", asked.json, "One line of JSON for each measurement");
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    std::atomic<bool> right = true;
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      if (!measure(rt, asked)) right = false;
    });
    return code != 0 ? code : (right ? 0 : 1);
  } catch (const nacre::setup_error& error) {
    fmt::print(stderr, "containers: {}\n", error.what());
    return 2;
  }
}
