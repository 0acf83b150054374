// SPDX-License-Identifier: Apache-2.0
// An operation of the public API, to be measured with ever more of what it is about.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

namespace sweep {

struct operation {
  std::string name;
  std::string things;  ///< what there are n of
  /// Processor seconds of n of them, of the whole process. Runs in a process of its own, once.
  std::function<double(std::uint64_t n)> measure;
  std::uint64_t least = 1000, most = 1'000'000;
  double exponent_max = 0;  ///< what it may grow by, for a reason; 0: as all
  std::string reason{};
};

/// The processor time of this process, its threads and, once they have ended, its children.
[[nodiscard]] double processor_seconds();

using settings = std::map<std::string, std::string>;

/// Runs a job of one worker a rank in this process; `main` gets a stopwatch of processor time, to be used on rank 0.
/// Returns what it has measured.
class stopwatch {
 public:
  void start() { begin_ = processor_seconds(); }
  void stop() { spent_ += processor_seconds() - begin_; }
  [[nodiscard]] double seconds() const noexcept { return spent_; }

 private:
  double begin_ = 0, spent_ = 0;
};
double run_job(const settings& settings, const std::function<void(nacre::runtime&, stopwatch&)>& main);

/// Options of a real job of one rank, and of a simulated one of so many.
[[nodiscard]] settings one_rank();
[[nodiscard]] settings simulated(std::uint64_t ranks);

[[nodiscard]] std::vector<operation> object_operations();
[[nodiscard]] std::vector<operation> waiting_operations();
[[nodiscard]] std::vector<operation> array_operations();
[[nodiscard]] std::vector<operation> moving_operations();
[[nodiscard]] std::vector<operation> rank_operations();
[[nodiscard]] std::vector<operation> file_operations();

}  // namespace sweep
