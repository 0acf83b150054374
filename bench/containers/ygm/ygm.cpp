// SPDX-License-Identifier: Apache-2.0
// The same measurements by YGM, a header-only library that the variable YGM_DIR names; nothing of it is kept here.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <ygm/comm.hpp>
#include <ygm/container/bag.hpp>
#include <ygm/container/counting_set.hpp>
#include <ygm/container/disjoint_set.hpp>
#include <ygm/container/map.hpp>

#include "containers/workload.hpp"

namespace {

struct options {
  std::uint64_t words = 4'000'000;
  std::uint32_t vocabulary = 100'000, scale = 20, edge_factor = 4, runs = 3;
};

double seconds_of(ygm::comm& world, const std::function<void()>& body) {
  world.barrier();
  const double begin = MPI_Wtime();
  body();
  world.barrier();
  return ygm::max(MPI_Wtime() - begin, world);
}

void tell(ygm::comm& world, const char* name, std::uint64_t count, double seconds, bool right) {
  if (world.rank0()) {
    std::printf("%-6s %-14s %8.2f M/s  %s\n", "ygm", name, static_cast<double>(count) / seconds * 1e-6,
                right ? "right" : "WRONG");
    std::fflush(stdout);
  }
}

struct inputs {
  std::vector<std::string> words;
  std::vector<std::uint32_t> drawn;
  std::vector<workload::edge> edges;
  std::uint64_t ranks = 1;
  std::uint32_t scale = 0;
  [[nodiscard]] std::uint64_t total() const { return drawn.size() * ranks; }
};

void measure_counting_set(ygm::comm& world, const inputs& input) {
  ygm::container::counting_set<std::string> counts(world);
  const double seconds = seconds_of(world, [&] {
    for (const std::uint32_t each : input.drawn) counts.async_insert(input.words[each]);
  });
  tell(world, "counting_set", input.total(), seconds, counts.count_all() == input.total());
}

void measure_map_visit(ygm::comm& world, const inputs& input) {
  ygm::container::map<std::string, std::uint64_t> counts(world);
  const double seconds = seconds_of(world, [&] {
    for (const std::uint32_t each : input.drawn) {
      counts.async_visit(input.words[each], [](const std::string&, std::uint64_t& count) { ++count; });
    }
  });
  std::uint64_t sum = 0;
  counts.for_all([&](const std::string&, std::uint64_t& count) { sum += count; });
  tell(world, "map_visit", input.total(), seconds, ygm::sum(sum, world) == input.total());
}

/// A word count by hand: a message for each word, to the rank of its hash, where a hash map counts it.
void measure_async(ygm::comm& world, const inputs& input) {
  static std::unordered_map<std::string, std::uint64_t> counts;
  counts.clear();
  const double seconds = seconds_of(world, [&] {
    const std::hash<std::string> hash;
    for (const std::uint32_t each : input.drawn) {
      world.async(
          static_cast<int>(hash(input.words[each]) % input.ranks), [](const std::string& word) { ++counts[word]; },
          input.words[each]);
    }
  });
  std::uint64_t sum = 0;
  for (const auto& [word, count] : counts) sum += count;
  tell(world, "async", input.total(), seconds, ygm::sum(sum, world) == input.total());
}

void measure_bag(ygm::comm& world, const inputs& input) {
  ygm::container::bag<std::uint64_t> all(world);
  const double seconds = seconds_of(world, [&] {
    for (const std::uint32_t each : input.drawn) all.async_insert(each);
  });
  tell(world, "bag", input.total(), seconds, all.size() == input.total());
}

void measure_disjoint_set(ygm::comm& world, const inputs& input) {
  ygm::container::disjoint_set<std::uint64_t> sets(world);
  std::uint64_t count = 0;
  const double seconds = seconds_of(world, [&] {
    for (const auto& [from, to] : input.edges) sets.async_union(from, to);
    count = sets.num_sets();
  });
  workload::serial_sets serial(input.scale);
  for (std::uint32_t each = 0; each < input.ranks; ++each) {
    for (const auto& one : workload::rmat(input.edges.size(), input.scale, each)) serial.unite(one);
  }
  tell(world, "disjoint_set", input.edges.size() * input.ranks, seconds, count == serial.count().sets);
}

void measure(ygm::comm& world, const options& settings) {
  const auto ranks = static_cast<std::uint64_t>(world.size());
  const auto rank = static_cast<std::uint32_t>(world.rank());
  const inputs input{
      workload::vocabulary(settings.vocabulary), workload::zipf(settings.words / ranks, settings.vocabulary, rank),
      workload::rmat((std::uint64_t{settings.edge_factor} << settings.scale) / ranks, settings.scale, rank), ranks,
      settings.scale};
  for (std::uint32_t run = 0; run < settings.runs; ++run) {
    measure_counting_set(world, input);
    measure_map_visit(world, input);
    measure_async(world, input);
    measure_bag(world, input);
    if (settings.scale != 0) measure_disjoint_set(world, input);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ygm::comm world(&argc, &argv);
  options settings;
  const auto number = [&](int index, auto& value) {
    if (argc > index) value = static_cast<std::decay_t<decltype(value)>>(std::strtoull(argv[index], nullptr, 10));
  };
  number(1, settings.words);
  number(2, settings.vocabulary);
  number(3, settings.scale);
  number(4, settings.edge_factor);
  number(5, settings.runs);
  measure(world, settings);
  return 0;
}
