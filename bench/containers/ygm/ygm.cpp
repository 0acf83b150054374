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

void measure_counting_set(ygm::comm& world, const inputs& of) {
  ygm::container::counting_set<std::string> counts(world);
  const double seconds = seconds_of(world, [&] {
    for (const std::uint32_t each : of.drawn) counts.async_insert(of.words[each]);
  });
  tell(world, "counting_set", of.total(), seconds, counts.count_all() == of.total());
}

void measure_map_visit(ygm::comm& world, const inputs& of) {
  ygm::container::map<std::string, std::uint64_t> counts(world);
  const double seconds = seconds_of(world, [&] {
    for (const std::uint32_t each : of.drawn) {
      counts.async_visit(of.words[each], [](const std::string&, std::uint64_t& count) { ++count; });
    }
  });
  std::uint64_t sum = 0;
  counts.for_all([&](const std::string&, std::uint64_t& count) { sum += count; });
  tell(world, "map_visit", of.total(), seconds, ygm::sum(sum, world) == of.total());
}

/// A word count by hand: a message for each word, to the rank of its hash, where a hash map counts it.
void measure_async(ygm::comm& world, const inputs& of) {
  static std::unordered_map<std::string, std::uint64_t> counts;
  counts.clear();
  const double seconds = seconds_of(world, [&] {
    const std::hash<std::string> hash;
    for (const std::uint32_t each : of.drawn) {
      world.async(
          static_cast<int>(hash(of.words[each]) % of.ranks), [](const std::string& word) { ++counts[word]; },
          of.words[each]);
    }
  });
  std::uint64_t sum = 0;
  for (const auto& [word, count] : counts) sum += count;
  tell(world, "async", of.total(), seconds, ygm::sum(sum, world) == of.total());
}

void measure_bag(ygm::comm& world, const inputs& of) {
  ygm::container::bag<std::uint64_t> all(world);
  const double seconds = seconds_of(world, [&] {
    for (const std::uint32_t each : of.drawn) all.async_insert(each);
  });
  tell(world, "bag", of.total(), seconds, all.size() == of.total());
}

void measure_disjoint_set(ygm::comm& world, const inputs& of) {
  ygm::container::disjoint_set<std::uint64_t> sets(world);
  std::uint64_t count = 0;
  const double seconds = seconds_of(world, [&] {
    for (const auto& [from, to] : of.edges) sets.async_union(from, to);
    count = sets.num_sets();
  });
  workload::serial_sets serial(of.scale);
  for (std::uint32_t each = 0; each < of.ranks; ++each) {
    for (const auto& one : workload::rmat(of.edges.size(), of.scale, each)) serial.unite(one);
  }
  tell(world, "disjoint_set", of.edges.size() * of.ranks, seconds, count == serial.count().sets);
}

void measure(ygm::comm& world, const options& how) {
  const auto ranks = static_cast<std::uint64_t>(world.size());
  const auto rank = static_cast<std::uint32_t>(world.rank());
  const inputs of{workload::vocabulary(how.vocabulary), workload::zipf(how.words / ranks, how.vocabulary, rank),
                  workload::rmat((std::uint64_t{how.edge_factor} << how.scale) / ranks, how.scale, rank), ranks,
                  how.scale};
  for (std::uint32_t run = 0; run < how.runs; ++run) {
    measure_counting_set(world, of);
    measure_map_visit(world, of);
    measure_async(world, of);
    measure_bag(world, of);
    if (how.scale != 0) measure_disjoint_set(world, of);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ygm::comm world(&argc, &argv);
  options how;
  const auto number = [&](int at, auto& into) {
    if (argc > at) into = static_cast<std::decay_t<decltype(into)>>(std::strtoull(argv[at], nullptr, 10));
  };
  number(1, how.words);
  number(2, how.vocabulary);
  number(3, how.scale);
  number(4, how.edge_factor);
  number(5, how.runs);
  measure(world, how);
  return 0;
}
