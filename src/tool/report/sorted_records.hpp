// SPDX-License-Identifier: Apache-2.0
// Sorts more records of a report than memory should hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace nacre::tool {

/// A line of a .prv file. Kind 1: a state (b: its end); 2: an event; 3: a communication (a: its number).
struct paraver_record {
  std::int64_t ns = 0;
  std::uint32_t track = 0;
  std::uint8_t kind = 0;
  std::uint64_t a = 0, b = 0;
};

/// Collects records and passes them on by time, kind and track; equal ones in the order in which they came. Records
/// beyond `in_memory` lie in a file without a name, in the folder of `path`. Functions throw setup_error when that
/// cannot be written or read.
class sorted_records {
 public:
  explicit sorted_records(std::string path, std::size_t in_memory = std::size_t{1} << 20)
      : path_(std::move(path)), in_memory_(in_memory) {}
  sorted_records(const sorted_records&) = delete;
  sorted_records& operator=(const sorted_records&) = delete;
  ~sorted_records();

  void add(const paraver_record& record);
  /// Once, when all have been added.
  void visit(const std::function<void(const paraver_record&)>& function);

 private:
  struct run;
  void sort_waiting();
  void write_run();
  void read_more(run& run, std::size_t records) const;
  [[noreturn]] void refuse(const char* verb) const;

  const std::string path_;
  const std::size_t in_memory_;
  int file_ = -1;
  std::vector<paraver_record> waiting_;
  std::vector<std::size_t> runs_;  // number of records in each run of the file, one behind the other
};

}  // namespace nacre::tool
