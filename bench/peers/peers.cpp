// SPDX-License-Identifier: Apache-2.0
// What does a rank pay for each of its peers? Time to connect, descriptors, and memory of the process and the kernel.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

#include "steady_seconds.hpp"

namespace {

/// The number behind `name` in a file of lines such as "Pss:  1234 kB"; 0: there is none.
std::uint64_t number_in(const char* file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word;) {
    if (word != name) continue;
    std::uint64_t number = 0;
    lines >> number;
    return number;
  }
  return 0;
}

/// What one rank holds, or the most that any holds.
struct holdings {
  std::uint64_t descriptors = 0;
  std::uint64_t own_kib = 0;  // memory that no other process shares
  template <class Archive>
  void serialize(Archive& ar) {
    ar(descriptors, own_kib);
  }
};

holdings own_holdings() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return {.descriptors = static_cast<std::uint64_t>(std::distance(begin(all), end(all))),
          .own_kib = number_in("/proc/self/smaps_rollup", "Private_Dirty:")};
}

holdings most_of(const holdings& a, const holdings& b) {
  return {.descriptors = std::max(a.descriptors, b.descriptors), .own_kib = std::max(a.own_kib, b.own_kib)};
}

void report(nacre::runtime& rt, std::string_view moment) {
  const holdings most = rt.all_reduce(own_holdings(), most_of);
  if (rt.rank().value() != 0) return;
  fmt::print("{} {} descriptors, {} KiB of its own; {} KiB in the kernel's slabs for all of the host\n", moment,
             most.descriptors, most.own_kib, number_in("/proc/meminfo", "Slab:"));
}

void hear(std::uint64_t) {}

void measure(nacre::runtime& rt, double begin) {
  rt.barrier();
  const double seconds =
      rt.all_reduce(bench::steady_seconds() - begin, [](double a, double b) { return std::max(a, b); });
  if (rt.rank().value() == 0) fmt::print("{} ranks: {:.2f} s to begin\n", rt.size(), seconds);
  report(rt, "most of a rank, connected:");
  for (std::uint32_t peer = 0; peer < rt.size(); ++peer) rt.send<hear>(nacre::rank_id{peer}, std::uint64_t{peer});
  rt.wait_quiescence();
  report(rt, "after a message to each peer:");
}

}  // namespace

int main(int argc, char** argv) {
  const double begin = bench::steady_seconds();
  return nacre::run_program("peers", [&] {
    nacre::config configuration = nacre::read_config(argc, argv);
    nacre::program_options options(
        "peers", "What a rank pays for each peer: start it with nacre run over several transports, with many ranks.");
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    configuration.set("workers", "1");
    return nacre::run(configuration, [&](nacre::runtime& rt) { measure(rt, begin); });
  });
}
