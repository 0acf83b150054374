// SPDX-License-Identifier: Apache-2.0
// How long does a rank that sleeps take to run what another thread of its process hands in? Beside an eventfd between
// two threads, by turns in one run.
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
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
  std::vector<std::string> transports{"inproc", "shm", "tcp"};
  int rounds = 1000;
  double pause = 0.001;  // seconds between two wake-ups, in which everything falls asleep
  double ratio_max = 0;
  int workers = 1;
  bool as_job = false;  // started by the benchmark itself, as a rank
  int ranks = 0;        // of this process; 0: a launcher has started it
};

/// Where a handler, or the thread behind an eventfd, notes when it was woken.
struct arrival {
  std::atomic<double> time{0};
  std::binary_semaphore seen{0};
};
arrival& here() {
  static arrival of_process;
  return of_process;
}

void note_arrival() {
  here().time = bench::steady_seconds();
  here().seen.release();
}

int echo(int number) { return number; }

/// A thread that sleeps on an eventfd, and answers by another one where it is asked to.
class eventfd_partner {
 public:
  eventfd_partner() : thread_([this] { serve(); }) {}
  ~eventfd_partner() {
    write_to(there_, end);
    thread_.join();
    ::close(there_);
    ::close(back_);
  }
  eventfd_partner(const eventfd_partner&) = delete;
  eventfd_partner& operator=(const eventfd_partner&) = delete;

  void wake() const { write_to(there_, note); }
  void ask() const {
    write_to(there_, answer);
    static_cast<void>(read_from(back_));
  }

 private:
  enum : std::uint64_t { note = 1, answer = 2, end = 3 };
  static void write_to(int descriptor, std::uint64_t value) {
    if (::write(descriptor, &value, sizeof value) != sizeof value) std::perror("write to an eventfd");
  }
  static std::uint64_t read_from(int descriptor) {
    std::uint64_t value = end;
    if (::read(descriptor, &value, sizeof value) != sizeof value) std::perror("read from an eventfd");
    return value;
  }
  void serve() const {
    for (std::uint64_t told = read_from(there_); told != end; told = read_from(there_)) {
      if (told == note) note_arrival();
      if (told == answer) write_to(back_, 1);
    }
  }
  int there_ = ::eventfd(0, EFD_CLOEXEC), back_ = ::eventfd(0, EFD_CLOEXEC);
  std::thread thread_;
};

constexpr const char* variants[]{"eventfd, there", "submitter, send", "eventfd, there and back", "submitter, call"};

/// Seconds until `act` has been noticed at its other end.
template <class Act>
double one_way(const Act& act) {
  const double begin = bench::steady_seconds();
  act();
  here().seen.acquire();
  return here().time - begin;
}
template <class Act>
double round_trip(const Act& act) {
  const double begin = bench::steady_seconds();
  act();
  return bench::steady_seconds() - begin;
}

/// The other thread. The rank's main waits for quiescence meanwhile, and its workers sleep.
void measure_from_outside(const nacre::submitter& door, nacre::rank_id own_rank, const plan& plan) {
  const eventfd_partner partner;
  std::vector<double> taken[4];
  const auto sleep = [&] { std::this_thread::sleep_for(std::chrono::duration<double>(plan.pause)); };
  for (int round = -10; round < plan.rounds; ++round) {
    double now[4];
    sleep();
    now[0] = one_way([&] { partner.wake(); });
    sleep();
    now[1] = one_way([&] { door.send<note_arrival>(own_rank); });
    sleep();
    now[2] = round_trip([&] { partner.ask(); });
    sleep();
    now[3] = round_trip([&] { static_cast<void>(door.call<echo>(own_rank, 1).get()); });
    for (std::size_t index = 0; index < 4 && round >= 0; ++index) taken[index].push_back(now[index]);  // warm by now
  }
  for (std::size_t index = 0; index < 4; ++index) {
    std::vector<double>& all = taken[index];
    std::sort(all.begin(), all.end());
    const auto part = [&](double share) {
      return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    };
    bench::print_json({{"variant", variants[index]}, {"median", part(0.5)}, {"low", part(0.1)}, {"high", part(0.9)}});
  }
  std::fflush(stdout);
}

int serve_job(const plan& plan, int argc, char** argv) {
  nacre::config configuration = nacre::read_config(argc, argv);
  configuration.set("workers", std::to_string(plan.workers));
  if (plan.ranks != 0) configuration.set("ranks", std::to_string(plan.ranks));
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    std::thread other;
    if (rt.rank().value() == 0) {
      other = std::thread([&, door = rt.submitter(), rank = rt.rank()] { measure_from_outside(door, rank, plan); });
    }
    rt.wait_quiescence();
    if (other.joinable()) other.join();
  });
}

bool measure_transport(const std::string& transport, const plan& plan) {
  bench::launcher start;
  if (transport != "inproc") start = bench::launcher_of(transport, 2);
  if (!start.missing.empty()) {
    fmt::print("{} is left out: {}\n", transport, start.missing);
    return true;
  }
  std::vector<std::string> command = start.words;
  command.push_back((bench::own_folder() / "submitters_wakeups").string());
  command.insert(command.end(), {"--as-job", "--rounds", std::to_string(plan.rounds), "--pause",
                                 fmt::format("{}", plan.pause), "--workers", std::to_string(plan.workers)});
  if (transport == "inproc") command.insert(command.end(), {"--ranks", "1"});
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0 || got.lines.size() != 4) {
    fmt::print("{}: the ranks ended with {}\n", transport, got.exit_code);
    return false;
  }
  fmt::print("{:<28} {:>10} {:>12} {:>12} {:>20}\n", transport, "median us", "10 of 100", "90 of 100",
             "beside the eventfd");
  bool is_within = true;
  double neighbour = 0;
  for (std::size_t index = 0; index < 4; ++index) {
    const auto row = bench::read_json(got.lines[index]);
    const double median = row.at("median");
    if (index % 2 == 0) neighbour = median;
    const double ratio = median / neighbour;
    fmt::print("{:<28} {:>10.1f} {:>12.1f} {:>12.1f} {:>20.2f}\n", variants[index], median * 1e6,
               row.at("low").get<double>() * 1e6, row.at("high").get<double>() * 1e6, ratio);
    is_within = is_within && (plan.ratio_max == 0 || ratio <= plan.ratio_max);
  }
  if (!is_within) fmt::print("more than {} times an eventfd\n", plan.ratio_max);
  return is_within;
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "submitters_wakeups",
      "Time until a rank that sleeps runs what another thread hands in by a submitter, beside "
      "an eventfd between two threads.");
  options.add("--transport", plan.transports, "Which: inproc, shm, tcp, udp, ucx, openmpi, mpich")
      .one_of({"inproc", "shm", "tcp", "udp", "ucx", "openmpi", "mpich"});
  options.add("--rounds", plan.rounds, "Wake-ups of each kind").between(1, 1'000'000);
  options.add("--pause", plan.pause, "Seconds between two of them").between(0.0001, 1.0);
  options.add("--workers", plan.workers, "Workers of the rank").between(1, 64);
  options.add("--ratio-max", plan.ratio_max, "Fail if a median is more than so many times the eventfd's; 0: never")
      .between(0.0, 1000.0);
  options.add("--as-job", plan.as_job, "").hidden();  // for the benchmark itself
  options.add("--ranks", plan.ranks, "").hidden();
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  return bench::act("submitters_wakeups", plan.as_job, plan.transports,
                    {.serve = [&] { return serve_job(plan, argc, argv); },
                     .measure = [&](const std::string& transport) { return measure_transport(transport, plan); }});
}
