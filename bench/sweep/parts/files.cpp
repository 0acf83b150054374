// SPDX-License-Identifier: Apache-2.0
// Options, traces and records, of which there may be many.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "jobs.hpp"
#include "operation.hpp"

namespace sweep {
namespace {

struct cell {
  std::uint64_t heard = 0;
  void hear(std::uint64_t number) { heard += number; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

double command_line(std::uint64_t n) {
  std::vector<std::string> words{"program"};
  for (std::uint64_t number = 0; number < n; ++number) {
    words.push_back("--nacre.seed=" + std::to_string(number));
    words.push_back(std::to_string(number));
  }
  std::vector<char*> argv;
  for (std::string& each : words) argv.push_back(each.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  const double begin = processor_seconds();
  static_cast<void>(nacre::read_config(argc, argv.data()));
  return processor_seconds() - begin;
}

double unknown_name(std::uint64_t n) {
  std::string word = "--nacre." + std::string(n, 'x');
  char program[] = "program";
  char* argv[] = {program, word.data(), nullptr};
  int argc = 2;
  const double begin = processor_seconds();
  try {
    static_cast<void>(nacre::read_config(argc, argv));
  } catch (const nacre::setup_error&) {
    return processor_seconds() - begin;
  }
  throw std::runtime_error("an unknown option was taken");
}

std::filesystem::path scratch(const char* name) {
  return std::filesystem::temp_directory_path() / ("nacre_sweep." + std::to_string(getpid()) + "." + name);
}

/// A job with so many messages to one object, or one to each of so many.
void busy(const settings& more, std::uint64_t n, bool to_one) {
  settings tuning = one_rank();
  tuning.insert(more.begin(), more.end());
  run_job(tuning, [&](nacre::runtime& rt, stopwatch&) {
    const auto one = rt.create<cell>();
    for (std::uint64_t number = 0; number < n; ++number) {
      rt.send<&cell::hear>(to_one ? one : rt.create<cell>(), number);
    }
  });
}

double recording(const char* option, std::uint64_t n, bool to_one) {
  const std::filesystem::path file = scratch(option);
  const double begin = processor_seconds();
  busy({{option, file.string()}, {"trace_shared", "0us"}}, n, to_one);
  const double spent = processor_seconds() - begin;
  std::filesystem::remove(file);
  return spent;
}

double report(std::uint64_t n) {
  const std::filesystem::path file = scratch("trace"), page = scratch("html");
  busy({{"trace", file.string()}, {"trace_shared", "0us"}}, n, true);
  const double begin = processor_seconds();
  const bench::outcome got = bench::run_command(
      {(bench::own_folder() / "nacre").string(), "report", file.string(), "--output", page.string()});
  const double spent = processor_seconds() - begin;
  std::filesystem::remove(file);
  std::filesystem::remove(page);
  if (got.exit_code != 0) throw std::runtime_error("nacre report failed");
  return spent;
}

}  // namespace

std::vector<operation> file_operations() {
  return {{"read_config", "options on the command line", command_line},
          {"read_config, of an unknown option", "letters in its name", unknown_name},
          {"trace", "events", [](std::uint64_t n) { return recording("trace", n, true); }},
          {"record_load", "objects", [](std::uint64_t n) { return recording("record_load", n, false); }},
          {"nacre report", "events", report}};
}

}  // namespace sweep
