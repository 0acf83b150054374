// SPDX-License-Identifier: Apache-2.0
// Runs one script for each rank of a job, over any backend: in threads, or in virtual time.
#include "transport/conformance/harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ostream>
#include <thread>

namespace nacre::transport::conformance {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds patience_of_jobs{60};
constexpr std::chrono::milliseconds nap{1};

/// Steps after the end, in which no further message may come.
constexpr int steps_of_watching = 20;

config configuration_of(const backend& row, job::buffers buffers) {
  config result{option_table{.component = row.name, .options = row.options}};
  if (row.name == "auto") {  // made of others
    for (const char* name : {"tcp", "shm", "ucx", "udp"}) {
      const backend& each = find_backend(name);
      const option_table table{.component = each.name, .options = each.options};
      result.declare({&table, 1});
    }
    // A process of its own tests it over UCX, see ucx/, with this variable set.
    const char* const separator = std::getenv("NACRE_AUTO_BETWEEN");
    result.set("auto.between", separator != nullptr ? separator : "tcp");
  }
  if (buffers == job::buffers::tight && result.is_declared("tcp.output_max")) result.set("tcp.output_max", "64KiB");
  if (buffers == job::buffers::tight && result.is_declared("shm.ring_bytes")) {
    result.set("shm.ring_bytes", "4KiB");
    result.set("shm.output_max", "64KiB");
  }
  if (buffers == job::buffers::tight && result.is_declared("udp.output_max")) result.set("udp.output_max", "64KiB");
  if (buffers == job::buffers::tight && result.is_declared("mpi.output_max")) result.set("mpi.output_max", "64KiB");
  if (buffers == job::buffers::tight && result.is_declared("ucx.output_max")) result.set("ucx.output_max", "64KiB");
  if (result.is_declared("mpi.library")) {
    // A process can hold one MPI only, so a variable selects the one to test.
    if (const char* const library = std::getenv("NACRE_MPI_LIBRARY")) result.set("mpi.library", library);
  }
  return result;
}

}  // namespace

std::string name_of(const subject& subject) {
  return std::string(subject.row->name) + "_" + std::to_string(subject.ranks) + "_ranks";
}

void PrintTo(const subject& subject, std::ostream* out) { *out << name_of(subject); }

std::vector<subject> every_backend_with(std::vector<std::uint32_t> ranks) {
  std::vector<subject> result;
  for (const backend& row : backends()) {
    for (const std::uint32_t each : ranks) result.push_back({.row = &row, .ranks = each});
  }
  return result;
}

job::job(const subject& subject, buffers buffers)
    : size_(subject.ranks),
      virtual_time_(subject.row->virtual_time),
      fabric_(subject.row->make_local(subject.ranks, configuration_of(*subject.row, buffers))) {
  endpoints_.resize(size_);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    const auto open = [this, rank] { endpoints_[rank] = fabric_->open(rank_id(rank)); };
    if (virtual_time_) {
      open();
    } else {
      threads.emplace_back(open);
    }
  }
  for (std::thread& each : threads) each.join();
}

job::~job() {
  run_until_idle();
  // All at once, like the ranks of a real job: under tcp each of them waits until the others have its last bytes.
  on_every_rank([this](std::uint32_t rank) { endpoints_[rank].reset(); });
}

void job::run_until_idle() {
  while (fabric_->advance()) continue;
}

void job::on_every_rank(const std::function<void(std::uint32_t)>& action) {
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    if (virtual_time_) {
      action(rank);
    } else {
      threads.emplace_back(action, rank);
    }
  }
  for (std::thread& each : threads) each.join();
}

void job::run(const rank_scripts& scripts) {
  ASSERT_EQ(scripts.size(), size_);
  if (declared().virtual_time) {
    run_in_virtual_time(scripts);
  } else {
    run_in_threads(scripts);
  }
}

void job::run_in_threads(const rank_scripts& scripts) {
  const auto deadline = steady_clock::now() + patience_of_jobs;
  std::atomic<std::uint32_t> done{0};
  std::atomic<bool> in_time{true};
  on_every_rank([&](std::uint32_t rank) {
    bool counted = false;
    int watched = 0;
    while (watched < steps_of_watching) {
      const rank_script::progress now = scripts[rank]->step(at(rank));
      if (now == rank_script::progress::done && !counted) {
        counted = true;
        ++done;
      }
      if (done == size_) ++watched;
      if (steady_clock::now() > deadline) {
        in_time = false;
        return;
      }
      if (now != rank_script::progress::moving) at(rank).wait(nap);
    }
  });
  EXPECT_TRUE(in_time) << "only " << done << " of " << size_ << " ranks came to an end";
}

void job::run_in_virtual_time(const rank_scripts& scripts) {
  for (bool moved = true; moved;) {
    bool all_done = true;
    moved = false;
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      const rank_script::progress now = scripts[rank]->step(at(rank));
      all_done &= now == rank_script::progress::done;
      moved |= now == rank_script::progress::moving;
    }
    moved |= fabric_->advance();
    EXPECT_TRUE(moved || all_done) << "nothing moves any more, and not all ranks are done";
  }
}

}  // namespace nacre::transport::conformance
