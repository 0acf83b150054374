// SPDX-License-Identifier: Apache-2.0
// From which length on is a put or get faster when the transport copies it than when it travels in messages?
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

#include "figures_file.hpp"
#include "jobs.hpp"
#include "steady_seconds.hpp"

namespace {

struct plan {
  std::vector<std::string> transports{"shm", "ucx"};
  std::vector<std::size_t> sizes{4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576, 4194304};
  double seconds = 0.1;
  int runs = 3;
  bool as_job = false;  // started by the benchmark itself, as a rank
};

using memory = std::vector<std::byte>;

/// Seconds of one `act` in the fastest of ten batches.
template <class Act>
double seconds_of(double budget, Act&& act) {
  act();
  double best = 1e9;
  for (int batch = 0; batch < 10; ++batch) {
    const double begin = bench::steady_seconds();
    int count = 0;
    do {
      act();
      ++count;
    } while (bench::steady_seconds() - begin < budget / 10);
    best = std::min(best, (bench::steady_seconds() - begin) / count);
  }
  return best;
}

/// What no copy can beat: the kernel's, from one memory to another.
void copy_by_kernel(const memory& source, memory& target, std::size_t bytes) {
  const iovec remote{target.data(), bytes}, vector{const_cast<std::byte*>(source.data()), bytes};
  if (::process_vm_readv(::getpid(), &remote, 1, &vector, 1, 0) != static_cast<ssize_t>(bytes)) target[0] = source[0];
}

/// What a rank does: rank 0 puts into and gets from the memory of rank 1, and prints a line of JSON for each size.
int serve_job(const plan& plan, int argc, char** argv) {
  nacre::config configuration = nacre::read_config(argc, argv);
  configuration.set("workers", "1");
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    const std::size_t most = *std::max_element(plan.sizes.begin(), plan.sizes.end());
    memory memory(most, std::byte{1}), other(most, std::byte{2});
    const auto exposed = rt.expose(std::span(memory));
    const auto remote_memory = rt.broadcast(exposed, nacre::rank_id{1});
    for (const std::size_t bytes : plan.sizes) {
      if (rt.rank().value() != 0) break;
      const std::span range_reference_ts(other.data(), bytes);
      const double put = seconds_of(plan.seconds, [&] { rt.put(remote_memory, 0, range_reference_ts).get(); });
      const double get = seconds_of(plan.seconds, [&] { rt.get(remote_memory, 0, range_reference_ts).get(); });
      const double floor = seconds_of(plan.seconds, [&] { copy_by_kernel(memory, other, bytes); });
      bench::print_json({{"bytes", bytes}, {"put", put}, {"get", get}, {"floor", floor}});
      std::fflush(stdout);
    }
    rt.barrier();
    rt.withdraw(exposed);
  });
}

using figures = std::map<std::string, std::vector<double>>;  // seconds of each run, by name

/// One job; its figures go to those of its sizes. `direct_min`: from which length on the transport copies.
bool run_job(const std::string& transport, const plan& plan, const std::string& name, const char* direct_min,
             std::map<std::size_t, figures>& all) {
  std::vector<std::string> command = bench::launcher_of(transport, 2).words;
  std::string sizes;
  for (const std::size_t each : plan.sizes) sizes += (sizes.empty() ? "" : ",") + std::to_string(each);
  command.push_back((bench::own_folder() / "one_sided").string());
  command.insert(command.end(), {"--as-job", "--seconds", std::to_string(plan.seconds), "--sizes", sizes});
  ::setenv("NACRE_DIRECT_MIN", direct_min, 1);
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) {
    fmt::print("{}: the ranks ended with {}\n", transport, got.exit_code);
    return false;
  }
  for (const std::string& line : got.lines) {
    const auto row = bench::read_json(line);
    if (!row.is_object()) continue;
    figures& subject = all[row.at("bytes")];
    subject["put, " + name].push_back(row.at("put"));
    subject["get, " + name].push_back(row.at("get"));
    subject["floor"].push_back(row.at("floor"));
  }
  return true;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool measure_transport(const std::string& transport, const plan& plan) {
  if (const bench::launcher launcher = bench::launcher_of(transport, 2); !launcher.missing.empty()) {
    fmt::print("{} is left out: {}\n", transport, launcher.missing);
    return true;
  }
  std::map<std::size_t, figures> all;
  for (int run = 0; run < plan.runs; ++run) {
    if (!run_job(transport, plan, "copied", "1KiB", all)) return false;
    if (!run_job(transport, plan, "in messages", "1024GiB", all)) return false;
  }
  fmt::print("{:<10} {:>12} {:>12} {:>7} {:>12} {:>12} {:>7} {:>12}   (us; medians of {} runs)\n", transport,
             "put copied", "in messages", "ratio", "get copied", "in messages", "ratio", "bare copy", plan.runs);
  for (const auto& [bytes, times] : all) {
    const auto us = [&times = times](const char* name) { return median_of(times.at(name)) * 1e6; };
    fmt::print("{:<10} {:>12.1f} {:>12.1f} {:>7.2f} {:>12.1f} {:>12.1f} {:>7.2f} {:>12.1f}\n", bytes, us("put, copied"),
               us("put, in messages"), us("put, in messages") / us("put, copied"), us("get, copied"),
               us("get, in messages"), us("get, in messages") / us("get, copied"), us("floor"));
  }
  fmt::print("\n");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "one_sided",
      "Time of one put and of one get at a time between two ranks: copied by the transport, and in messages, in turns; "
      "beside a bare copy from memory to memory by the kernel. Ratios above 1: copying is faster.");
  options.add("--transport", plan.transports, "Which: shm, ucx").one_of({"shm", "ucx"});
  options.add("--sizes", plan.sizes, "Bytes").between(1024, 1 << 30);
  options.add("--seconds", plan.seconds, "Time of each figure in a run").between(0.01, 60.0);
  options.add("--runs", plan.runs, "Runs of both, in turns").between(1, 100);
  options.add("--as-job", plan.as_job, "").hidden();  // for the benchmark itself
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  return bench::act("one_sided", plan.as_job, plan.transports,
                    {.serve = [&] { return serve_job(plan, argc, argv); },
                     .measure = [&](const std::string& transport) { return measure_transport(transport, plan); }});
}
