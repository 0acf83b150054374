// SPDX-License-Identifier: Apache-2.0
// How many messages per second do other threads of a process hand in by a submitter? Beside a handler that sends as
// many itself, by turns in one run.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
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
  std::vector<std::string> transports{"inproc"};
  std::uint64_t messages = 1'000'000;
  int runs = 5;
  int workers = 1;
  bool as_job = false;  // started by the benchmark itself, as a rank
  int ranks = 0;        // of this process; 0: a launcher has started it
};

struct sink {
  std::uint64_t sum = 0;
  void add(std::uint64_t value) { sum += value; }
  std::uint64_t total() const { return sum; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(sum);
  }
};

void drop(std::uint64_t) {}

/// The runtime's own sends.
template <class Sender>
void send_burst(Sender& sender, nacre::rank_id target, nacre::mobile_ptr<sink> object, std::uint64_t count) {
  if (object) {
    for (std::uint64_t i = 0; i < count; ++i) sender.template send<&sink::add>(object, i);
  } else {
    for (std::uint64_t i = 0; i < count; ++i) sender.template send<&drop>(target, i);
  }
}

/// A part of the messages, and the rest by a message to itself, so that it is a handler as short as others.
void send_from_handler(nacre::context& ctx, nacre::rank_id target, nacre::mobile_ptr<sink> object,
                       std::uint64_t count) {
  const std::uint64_t now = std::min<std::uint64_t>(count, 1000);
  send_burst(ctx, target, object, now);
  if (count > now) ctx.send<&send_from_handler>(ctx.rank(), target, object, count - now);
}

/// 0 threads: the handler.
struct variant {
  const char* name;
  std::uint32_t threads;
};
constexpr variant variants[]{{"a handler", 0}, {"1 other thread", 1}, {"4 other threads", 4}};
constexpr const char* targets[]{"function, own rank", "function, next rank", "object, own rank", "object, next rank"};

struct rates {
  double handed_in = 0, run = 0;  // messages per second: until their senders had gone on, until all had run
};

/// Collective.
rates measure(nacre::runtime& rt, const plan& plan, std::uint32_t threads, nacre::rank_id target,
              nacre::mobile_ptr<sink> object) {
  std::vector<std::thread> others;
  std::atomic<double> handed_in{0};
  rt.barrier();
  const double begin = bench::steady_seconds();
  if (rt.rank().value() == 0) {
    if (threads == 0) rt.send<&send_from_handler>(rt.rank(), target, object, plan.messages);
    for (std::uint32_t each = 0; each < threads; ++each) {
      others.emplace_back([&, door = rt.submitter(), count = plan.messages / threads] {
        send_burst(door, target, object, count);
        const double now = bench::steady_seconds() - begin;
        for (double previous = handed_in; previous < now && !handed_in.compare_exchange_weak(previous, now);) continue;
      });
    }
  }
  rt.wait_quiescence();
  const double taken = bench::steady_seconds() - begin;
  for (std::thread& each : others) each.join();
  const auto messages = static_cast<double>(plan.messages);
  return {threads == 0 ? 0 : messages / handed_in, messages / taken};
}

int serve_job(const plan& plan, int argc, char** argv) {
  nacre::config configuration = nacre::read_config(argc, argv);
  configuration.set("workers", std::to_string(plan.workers));
  if (plan.ranks != 0) configuration.set("ranks", std::to_string(plan.ranks));
  configuration.set("balancer", "none");
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    const auto first_sink = rt.broadcast(rt.create<sink>(), nacre::rank_id(0));
    const auto next = rt.broadcast(rt.create<sink>(), nacre::rank_id(rt.size() - 1));
    for (int run = 0; run < plan.runs; ++run) {
      for (std::size_t target = 0; target < 4; ++target) {
        for (const variant& each : variants) {
          const nacre::rank_id destination(target % 2 == 0 ? 0 : rt.size() - 1);
          const auto object = target < 2 ? nacre::mobile_ptr<sink>() : target == 2 ? first_sink : next;
          const rates got = measure(rt, plan, each.threads, destination, object);
          if (rt.rank().value() != 0) continue;
          bench::print_json({{"target", target}, {"variant", each.name}, {"run", got.run}, {"in", got.handed_in}});
        }
      }
    }
    rt.wait_quiescence();
    const std::uint64_t all = rt.call<&sink::total>(first_sink).get() + rt.call<&sink::total>(next).get();
    if (all == 0) throw std::runtime_error("no message has arrived");
    std::fflush(stdout);
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
  command.push_back((bench::own_folder() / "submitters_rates").string());
  command.insert(command.end(), {"--as-job", "--messages", std::to_string(plan.messages), "--runs",
                                 std::to_string(plan.runs), "--workers", std::to_string(plan.workers)});
  if (transport == "inproc") command.insert(command.end(), {"--ranks", "2"});
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) {
    fmt::print("{}: the ranks ended with {}\n", transport, got.exit_code);
    return false;
  }
  fmt::print("{:<22} {:<18} {:>12} {:>8} {:>8} {:>14} {:>18}\n", transport, "M messages/s of", "all run", "least",
             "most", "handed in", "beside the handler");
  for (std::size_t target = 0; target < 4; ++target) {
    double neighbour = 0;
    for (const variant& each : variants) {
      std::vector<double> run, handed_in;
      for (const std::string& line : got.lines) {
        const auto row = bench::read_json(line);
        if (!row.is_object() || row.at("target") != target || row.at("variant") != each.name) continue;
        run.push_back(row.at("run").get<double>() * 1e-6);
        handed_in.push_back(row.at("in").get<double>() * 1e-6);
      }
      if (run.empty()) return false;
      std::sort(run.begin(), run.end());
      std::sort(handed_in.begin(), handed_in.end());
      const double median = run[run.size() / 2];
      if (each.threads == 0) neighbour = median;
      fmt::print("{:<22} {:<18} {:>12.2f} {:>8.2f} {:>8.2f} {:>14} {:>18.2f}\n", targets[target], each.name, median,
                 run.front(), run.back(),
                 each.threads == 0 ? std::string("-") : fmt::format("{:.2f}", handed_in[handed_in.size() / 2]),
                 median / neighbour);
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options("submitters_rates",
                                 "Messages per second that other threads hand in by a submitter, beside those that a "
                                 "handler of the rank sends.");
  options.add("--transport", plan.transports, "Which: inproc, shm, tcp, udp, ucx, openmpi, mpich")
      .one_of({"inproc", "shm", "tcp", "udp", "ucx", "openmpi", "mpich"});
  options.add("--messages", plan.messages, "Messages of each kind in a run").between(1000, 1'000'000'000);
  options.add("--runs", plan.runs, "Runs of every kind, in turns").between(1, 100);
  options.add("--workers", plan.workers, "Workers of a rank").between(1, 64);
  options.add("--as-job", plan.as_job, "").hidden();  // for the benchmark itself
  options.add("--ranks", plan.ranks, "").hidden();
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  return bench::act("submitters_rates", plan.as_job, plan.transports,
                    {.serve = [&] { return serve_job(plan, argc, argv); },
                     .measure = [&](const std::string& transport) { return measure_transport(transport, plan); }});
}
