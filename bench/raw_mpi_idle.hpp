// SPDX-License-Identifier: Apache-2.0
// What does it cost to ask MPI for messages when there are none?
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "uts/sha1_lanes.hpp"

namespace idle {

/// Receives that stand ready for messages of a tag that nobody uses.
class standing_receives {
 public:
  explicit standing_receives(std::size_t count) : buffers_(count), requests_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      MPI_Recv_init(buffers_[i].data(), static_cast<int>(buffers_[i].size()), MPI_BYTE, MPI_ANY_SOURCE, unused_tag,
                    MPI_COMM_WORLD, &requests_[i]);
    }
    MPI_Startall(static_cast<int>(count), requests_.data());
  }
  standing_receives(const standing_receives&) = delete;
  standing_receives& operator=(const standing_receives&) = delete;
  ~standing_receives() {
    for (MPI_Request& each : requests_) {
      MPI_Cancel(&each);
      MPI_Wait(&each, MPI_STATUS_IGNORE);
      MPI_Request_free(&each);
    }
  }
  /// One MPI_Test of each.
  void test_each() {
    int present_count = 0;
    for (MPI_Request& each : requests_) MPI_Test(&each, &present_count, MPI_STATUS_IGNORE);
  }
  /// One MPI_Testsome of all.
  void test_some() {
    std::array<int, 256> values{};
    int present_count = 0;
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &present_count, values.data(),
                 MPI_STATUSES_IGNORE);
  }

 private:
  static constexpr int unused_tag = 1;

  std::vector<std::array<char, 1024>> buffers_;
  std::vector<MPI_Request> requests_;
};

/// Seconds of one call, by the fastest of many batches: others may share the machine.
inline double seconds_of(const std::function<void()>& call) {
  constexpr int batches = 50, calls = 500;
  double best = 1e9;
  for (int batch = 0; batch < batches; ++batch) {
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call();
    best = std::min(best, (MPI_Wtime() - start) / calls);
  }
  return best;
}

/// The least-squares slope of seconds over receives.
inline double slope_of(const std::vector<double>& receives, const std::vector<double>& seconds) {
  const auto n = static_cast<double>(receives.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < receives.size(); ++i) {
    x += receives[i];
    y += seconds[i];
    xx += receives[i] * receives[i];
    xy += receives[i] * seconds[i];
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

inline double median_of(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

/// The ruler: SHA-1 of one child of a tree of uts, one after the other in plain C++.
inline double seconds_of_hash() {
  static volatile std::uint32_t seen = 0;
  return seconds_of([] {
    std::uint32_t w[16] = {seen, 1, 2, 3, 4, 5, 0x80000000u};
    w[15] = 192;
    seen = uts::sha1_compress<std::uint32_t>(w).e;
  });
}

/// Collective. Rank 0 prints a line of JSON for each figure: nanoseconds, as median, least and most of `runs`.
inline void measure(int rank, int runs) {
  const auto print = [&](const char* variant, std::size_t receives, const char* unit, const std::vector<double>& got) {
    if (rank != 0) return;
    const auto [least, most] = std::minmax_element(got.begin(), got.end());
    std::printf("{\"variant\":\"%s\",\"receives\":%zu,\"%s\":%.1f,\"min_ns\":%.1f,\"max_ns\":%.1f,\"runs\":%d}\n",
                variant, receives, unit, median_of(got) * 1e9, *least * 1e9, *most * 1e9, runs);
    std::fflush(stdout);
  };
  const auto repeated = [&](const std::function<double()>& once) {
    std::vector<double> all;
    for (int run = 0; run < runs; ++run) all.push_back(once());
    return all;
  };
  MPI_Barrier(MPI_COMM_WORLD);
  print("sha1_block", 0, "ns", repeated(seconds_of_hash));
  print("idle_iprobe", 0, "ns", repeated([] {
          int present_count = 0;
          return seconds_of(
              [&] { MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &present_count, MPI_STATUS_IGNORE); });
        }));
  struct way {
    const char* name;
    void (standing_receives::*look)();
  };
  for (const way& actor :
       {way{"idle_test_each", &standing_receives::test_each}, way{"idle_testsome", &standing_receives::test_some}}) {
    const std::vector<double> counts{1, 4, 16, 64, 128};
    std::vector<std::vector<double>> seconds(static_cast<std::size_t>(runs));
    for (const double count : counts) {
      standing_receives all(static_cast<std::size_t>(count));
      std::vector<double> got = repeated([&] { return seconds_of([&] { (all.*actor.look)(); }); });
      print(actor.name, static_cast<std::size_t>(count), "ns", got);
      for (std::size_t run = 0; run < got.size(); ++run) seconds[run].push_back(got[run]);
    }
    std::vector<double> slopes;
    for (const auto& of_run : seconds) slopes.push_back(slope_of(counts, of_run));
    print(actor.name, static_cast<std::size_t>(counts.back()), "ns_per_receive", slopes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace idle
