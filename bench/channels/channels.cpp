// SPDX-License-Identifier: Apache-2.0
// Do small system messages wait behind a flood of application messages? On one channel with them, and on their own.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
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
  std::vector<std::string> transports{"shm", "tcp"};
  std::size_t bytes = 65536;
  std::uint64_t window = 128;
  double seconds = 1;
  int runs = 3;
  bool as_job = false;  // started by the benchmark itself, as a rank
};

enum class traffic { none, flood };

/// One phase, as this rank sees it. Its main sets it up before a barrier; the handlers of the poll loop and of the only
/// worker use it then, and share nothing but the atomic.
struct rank_state {
  std::atomic<bool> flooding{false};
  std::vector<char> payload;
  nacre::channel channel = nacre::channel::system;
  double seconds = 0;
  double begin = 0, sent = 0;
  std::vector<double> round_trips;
  std::uint64_t received = 0;                // messages of the flood
  std::uint64_t received_before_asking = 0;  // so that the link is full when the first question is sent
};
rank_state& here() {
  static rank_state state;
  return state;
}

nacre::with quickly(nacre::channel channel) { return {.category = nacre::category::communication, .channel = channel}; }

void start_asking(nacre::context& ctx);
void ask(nacre::context& ctx, nacre::channel channel);

/// One message of the flood, which calls for one back: as many as it began with are always under way.
void sink(nacre::context& ctx, std::span<const char>) {
  rank_state& me = here();
  ++me.received;
  if (me.flooding.load(std::memory_order_relaxed)) {  // a hint, ordered by nothing
    ctx.send<sink>(ctx.source(), std::span<const char>(me.payload));
  }
  if (ctx.rank().value() == 0 && me.received == me.received_before_asking) {
    ctx.send<start_asking>(quickly(me.channel), ctx.rank());
  }
}

void stop() { here().flooding.store(false, std::memory_order_relaxed); }

void answered(nacre::context& ctx, nacre::channel channel) {
  rank_state& me = here();
  me.round_trips.push_back(bench::steady_seconds() - me.sent);
  if (bench::steady_seconds() - me.begin < me.seconds) return ask(ctx, channel);
  ctx.send<stop>(quickly(nacre::channel::system), nacre::to_all);
}

void echo(nacre::context& ctx, nacre::channel channel) { ctx.send<answered>(quickly(channel), ctx.source(), channel); }

void ask(nacre::context& ctx, nacre::channel channel) {
  here().sent = bench::steady_seconds();
  ctx.send<echo>(quickly(channel), nacre::rank_id{1}, channel);
}

void start_asking(nacre::context& ctx) {
  here().begin = bench::steady_seconds();
  ask(ctx, here().channel);
}

struct result {
  double median = 0, high = 0;  // seconds of a round trip; the second is that of which 99 of 100 are below
  double flood_mib = 0;         // MiB/s that arrived at rank 0
  std::size_t count = 0;
};

result measure(nacre::runtime& rt, const plan& plan, nacre::channel channel, traffic traffic) {
  rank_state& me = here();
  me.payload.assign(plan.bytes, 'x');
  me.seconds = plan.seconds;
  me.round_trips.clear();
  me.received = 0;
  me.received_before_asking = 2 * plan.window;
  me.channel = channel;
  me.flooding.store(traffic == traffic::flood, std::memory_order_relaxed);
  rt.barrier();
  const double start = bench::steady_seconds();
  const nacre::rank_id other{1 - rt.rank().value()};
  if (traffic == traffic::flood) {
    for (std::uint64_t i = 0; i < plan.window; ++i) rt.send<sink>(other, std::span<const char>(me.payload));
  } else if (rt.rank().value() == 0) {
    rt.send<start_asking>(quickly(channel), rt.rank());
  }
  rt.wait_quiescence();
  if (rt.rank().value() != 0) return {};
  std::sort(me.round_trips.begin(), me.round_trips.end());
  const std::size_t count = me.round_trips.size();
  return {me.round_trips[count / 2], me.round_trips[count * 99 / 100],
          static_cast<double>(me.received * plan.bytes) / (bench::steady_seconds() - start) / (1 << 20), count};
}

struct variant {
  std::string_view name;
  nacre::channel channel;
  traffic load;
};
constexpr variant variants[]{{"nothing else on the link", nacre::channel::system, traffic::none},
                             {"one channel: on that of the flood", nacre::channel::application, traffic::flood},
                             {"own channel: system", nacre::channel::system, traffic::flood}};

/// What a rank does: rank 0 prints a line of JSON for each run of each variant.
int serve_job(const plan& plan, int argc, char** argv) {
  nacre::config configuration = nacre::read_config(argc, argv);
  configuration.set("workers", "1");
  return nacre::run(configuration, [&](nacre::runtime& rt) {
    for (int run = 0; run < plan.runs; ++run) {
      for (const variant& each : variants) {
        const result got = measure(rt, plan, each.channel, each.load);
        if (rt.rank().value() != 0) continue;
        bench::print_json({{"variant", each.name},
                           {"median", got.median},
                           {"high", got.high},
                           {"flood", got.flood_mib},
                           {"count", got.count}});
        std::fflush(stdout);
      }
    }
  });
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Starts two ranks, reads their figures, and prints the medians of the runs.
bool measure_transport(const std::string& transport, const plan& plan) {
  const bench::launcher launcher = bench::launcher_of(transport, 2);
  if (!launcher.missing.empty()) {
    fmt::print("{} is left out: {}\n", transport, launcher.missing);
    return true;
  }
  std::vector<std::string> command = launcher.words;
  command.push_back((bench::own_folder() / "channels").string());
  command.insert(command.end(),
                 {"--as-job", "--bytes", std::to_string(plan.bytes), "--runs", std::to_string(plan.runs), "--window",
                  std::to_string(plan.window), "--seconds", fmt::format("{}", plan.seconds)});
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) {
    fmt::print("{}: the ranks ended with {}\n", transport, got.exit_code);
    return false;
  }
  fmt::print("{:<36} {:>12} {:>12} {:>12} {:>12} {:>12}\n", transport, "median us", "least", "most", "99 of 100",
             "flood MiB/s");
  std::vector<double> medians_of_all;
  for (const variant& each : variants) {
    std::vector<double> medians, highs, floods;
    for (const std::string& line : got.lines) {
      const auto row = bench::read_json(line);
      if (!row.is_object() || row.at("variant").get<std::string>() != each.name) continue;
      medians.push_back(row.at("median").get<double>() * 1e6);
      highs.push_back(row.at("high").get<double>() * 1e6);
      floods.push_back(row.at("flood"));
    }
    if (medians.empty()) return false;
    const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
    medians_of_all.push_back(median_of(medians));
    fmt::print("{:<36} {:>12.1f} {:>12.1f} {:>12.1f} {:>12.1f} {:>12.0f}\n", each.name, medians_of_all.back(), *least,
               *most, median_of(highs), median_of(floods));
  }
  fmt::print("one channel / own channel: {:.1f}\n\n", medians_of_all[1] / medians_of_all[2]);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "channels",
      "Round trips of small messages of the poll loop while both ranks flood each other with large application "
      "messages: "
      "on the same channel, and on channel system.");
  options.add("--transport", plan.transports, "Which: shm, tcp, udp, ucx, openmpi, mpich")
      .one_of({"shm", "tcp", "udp", "ucx", "openmpi", "mpich"});
  options.add("--bytes", plan.bytes, "Size of a message of the flood").between(1, 64 << 20);
  options.add("--window", plan.window, "Messages of the flood that are under way from each rank").between(1, 1'000'000);
  options.add("--seconds", plan.seconds, "Time of each variant in a run").between(0.01, 60.0);
  options.add("--runs", plan.runs, "Runs of every variant, in turns").between(1, 100);
  options.add("--as-job", plan.as_job, "").hidden();  // for the benchmark itself
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  return bench::act("channels", plan.as_job, plan.transports,
                    {.serve = [&] { return serve_job(plan, argc, argv); },
                     .measure = [&](const std::string& transport) { return measure_transport(transport, plan); }});
}
