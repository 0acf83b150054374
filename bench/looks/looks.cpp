// SPDX-License-Identifier: Apache-2.0
// What does a balancer cost beside how many objects? A bag of small objects on rank 0 of 2, under every balancer.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

#include "figures_file.hpp"
#include "jobs.hpp"

namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point begin) { return std::chrono::duration<double>(steady::now() - begin).count(); }

/// Takes the same work wherever and beside whomever it runs, unlike waiting for a time.
std::uint64_t spin(std::uint64_t rounds) {
  std::uint64_t value = rounds | 1;
  for (std::uint64_t round = 0; round < rounds; ++round) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

std::uint64_t rounds_of(double seconds) {
  constexpr std::uint64_t tried = 2'000'000;
  double least = 1e300;
  for (int run = 0; run < 5; ++run) {
    const auto begin = steady::now();
    volatile std::uint64_t keep = spin(tried);
    static_cast<void>(keep);
    least = std::min(least, seconds_since(begin));
  }
  return static_cast<std::uint64_t>(seconds / least * tried);
}

struct grain {
  std::uint64_t rounds = 0, result = 0;
  void run() { result = spin(rounds); }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(rounds, result);
  }
};

int serve(const nacre::config& configuration, std::uint64_t objects, std::uint64_t rounds) {
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    if (rt.rank() != nacre::rank_id(0)) return;
    for (std::uint64_t each = 0; each < objects; ++each) rt.send<&grain::run>(rt.create<grain>(rounds));
  });
}

struct row {
  std::string transport, balancer;
  std::uint64_t objects = 0;
  bool ended = false;
  double wall_seconds = 0, cpu_seconds = 0;
  std::uint64_t looks = 0, migrations = 0;
  double look_seconds = 0, resting_look_seconds = 0, migration_seconds = 0;

  [[nodiscard]] double part(double seconds) const { return cpu_seconds > 0 ? seconds / cpu_seconds : 0; }
  [[nodiscard]] nlohmann::ordered_json as_json() const {
    return {{"transport", transport},
            {"balancer", balancer},
            {"objects", objects},
            {"ended", ended},
            {"wall_seconds", wall_seconds},
            {"cpu_seconds", cpu_seconds},
            {"looks", looks},
            {"look_seconds", look_seconds},
            {"resting_look_seconds", resting_look_seconds},
            {"migrations", migrations},
            {"migration_seconds", migration_seconds}};
  }
};

double children_seconds() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * time.tv_usec; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

row measure(const std::string& transport, const std::string& balancer, std::uint64_t objects, std::uint64_t rounds,
            std::uint32_t limit) {
  const std::filesystem::path summary =
      std::filesystem::temp_directory_path() / fmt::format("nacre-looks-{}.json", getpid());
  std::filesystem::remove(summary);
  std::vector<std::string> command{"timeout", std::to_string(limit)};
  if (transport != "inproc") {
    const bench::launcher start = bench::launcher_of(transport, 2);
    if (start.words.empty()) throw std::runtime_error(start.missing);
    command.insert(command.end(), start.words.begin(), start.words.end());
  }
  command.insert(command.end(), {(bench::own_folder() / "looks").string(), "--as-job", "--objects",
                                 std::to_string(objects), "--rounds", std::to_string(rounds), "--nacre.workers=1",
                                 "--nacre.balancer=" + balancer, "--nacre.summary_json=" + summary.string()});
  if (transport == "inproc") command.emplace_back("--nacre.ranks=2");
  row match{.transport = transport, .balancer = balancer, .objects = objects};
  const double previous = children_seconds();
  const auto begin = steady::now();
  match.ended = bench::run_command(command).exit_code == 0;
  match.wall_seconds = seconds_since(begin);
  match.cpu_seconds = children_seconds() - previous;
  std::ifstream in(summary);
  const auto told = nlohmann::json::parse(in, nullptr, false);
  if (told.is_object()) {
    for (const auto& each : told.at("ranks")) {
      match.migrations += each.at("migrations_out").get<std::uint64_t>();
      match.looks += each.value("looks", std::uint64_t{0});
      match.look_seconds += each.value("look_seconds", 0.0);
      match.resting_look_seconds += each.value("resting_look_seconds", 0.0);
      match.migration_seconds += each.value("migration_seconds", 0.0);
    }
  }
  std::filesystem::remove(summary);
  return match;
}

void print(const row& row) {
  const double look_ns = row.looks != 0 ? 1e9 * row.look_seconds / static_cast<double>(row.looks) : 0;
  const double move_ns = row.migrations != 0 ? 1e9 * row.migration_seconds / static_cast<double>(row.migrations) : 0;
  fmt::print("{:<8} {:<14} {:>9} {:>9} {:>9.3f} {:>9} {:>9.0f} {:>8.3f} {:>8.3f} {:>10} {:>9.0f}\n", row.transport,
             row.balancer, row.objects, row.ended ? fmt::format("{:.3f}", row.wall_seconds) : "-", row.cpu_seconds,
             row.looks, look_ns, 100 * row.part(row.look_seconds - row.resting_look_seconds),
             100 * row.part(row.resting_look_seconds), row.migrations, move_ns);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::uint64_t> objects{8'000, 32'000, 128'000, 1'000'000};
  std::vector<std::string> balancers{"none",   "steal",         "lifeline", "hierarchical", "diffusion",
                                     "gossip", "greedy_refine", "share",    "master_worker"};
  std::vector<std::string> transports{"inproc", "shm"};
  double work_us = 10;
  std::uint64_t rounds = 0;
  std::uint32_t limit = 60, runs = 1;
  std::string json;
  bool as_job = false;
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);  // a job is given some
    nacre::program_options options(
        "looks", "What balancers cost beside how many objects: a bag of them on rank 0 of 2, a worker on each.");
    options.add("--objects", objects, "How many objects").between(1, 1e9);
    options.add("--balancers", balancers, "Which balancers");
    options.add("--transports", transports, "Between the ranks").one_of({"inproc", "shm", "tcp"});
    options.add("--work", work_us, "Microseconds of work that each object has").between(0, 1e6);
    options.add("--runs", runs, "Runs of every figure, all of which are printed").between(1, 100);
    options.add("--limit", limit, "Seconds after which a run is given up").between(1, 100'000);
    options.add("--json", json, "Also write all figures of all runs to this file").called("FILE");
    options.add("--as-job", as_job, "").hidden();  // for the program itself
    options.add("--rounds", rounds, "").hidden();
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    if (as_job) return serve(configuration, objects.front(), rounds);
    rounds = rounds_of(work_us * 1e-6);
    auto all = nlohmann::ordered_json::array();
    fmt::print("{:<8} {:<14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>10} {:>9}\n", "ranks", "balancer", "objects",
               "wall s", "CPU s", "looks", "ns a look", "% busy", "% idle", "migrations", "ns each");
    for (const std::string& transport : transports) {
      for (const std::uint64_t count : objects) {
        for (const std::string& balancer : balancers) {
          for (std::uint32_t run = 0; run < runs; ++run) {
            const row row = measure(transport, balancer, count, rounds, limit);
            print(row);
            all.push_back(row.as_json());
          }
        }
      }
    }
    bench::write_json(json, all);
    return std::all_of(all.begin(), all.end(), [](const auto& each) { return each.at("ended").template get<bool>(); })
               ? 0
               : 1;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "looks: {}\n", problem.what());
    return 1;
  }
}
