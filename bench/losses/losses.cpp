// SPDX-License-Identifier: Apache-2.0
// What do packets that a network loses cost short messages, streams, and rounds in which all ranks answer one?
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
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
  double percent = 1;         // of the packets, between two hosts
  std::uint32_t senders = 0;  // in a star; 0: two hosts
  std::uint64_t buffer = 32768;
  double seconds = 3;
  std::size_t bytes = 65536;   // of a message of the stream
  std::uint64_t window = 64;   // messages of the stream that are under way
  std::size_t answer = 32768;  // bytes of an answer in a round
  int runs = 5;
  bool as_job = false;  // started by the benchmark itself, as a rank
};

/// The measurement under way, as this rank sees it. Handlers of the poll loop alone use it, but for the setting up.
struct rank_state {
  std::vector<char> payload;
  double begin = 0, end = 0, sent = 0;
  std::uint64_t under_way = 0, acknowledged = 0;
  std::uint32_t answers_missing = 0;
  std::vector<double> times;  // seconds of each round trip or round
};
rank_state& here() {
  static rank_state state;
  return state;
}

constexpr nacre::with quickly{.category = nacre::category::communication};

// ---- round trips

void ask(nacre::context& ctx, nacre::rank_id peer);

void answered(nacre::context& ctx, std::uint64_t) {
  rank_state& mine = here();
  const double now = bench::steady_seconds();
  mine.times.push_back(now - mine.sent);
  if (now < mine.end) ask(ctx, ctx.source());
}

void echo(nacre::context& ctx, std::uint64_t number) { ctx.send<answered>(quickly, ctx.source(), number); }

void ask(nacre::context& ctx, nacre::rank_id peer) {
  here().sent = bench::steady_seconds();
  ctx.send<echo>(quickly, peer, std::uint64_t{here().times.size()});
}

// ---- a stream

void push(nacre::context& ctx, nacre::rank_id peer);

void arrived(nacre::context& ctx) {
  rank_state& mine = here();
  ++mine.acknowledged;
  --mine.under_way;
  if (bench::steady_seconds() < mine.end) push(ctx, ctx.source());
}

void sink(nacre::context& ctx, std::span<const char>) { ctx.send<arrived>(quickly, ctx.source()); }

void push(nacre::context& ctx, nacre::rank_id peer) {
  ++here().under_way;
  ctx.send<sink>(quickly, peer, std::span<const char>(here().payload));
}

// ---- rounds

void start_round(nacre::context& ctx);

void take_answer(nacre::context& ctx, std::span<const char>) {
  rank_state& mine = here();
  if (--mine.answers_missing != 0) return;
  const double now = bench::steady_seconds();
  mine.times.push_back(now - mine.sent);
  if (now < mine.end) start_round(ctx);
}

void give_answer(nacre::context& ctx) {
  ctx.send<take_answer>(quickly, ctx.source(), std::span<const char>(here().payload));
}

void start_round(nacre::context& ctx) {
  here().answers_missing = ctx.size() - 1;
  here().sent = bench::steady_seconds();
  for (std::uint32_t rank = 1; rank < ctx.size(); ++rank) ctx.send<give_answer>(quickly, nacre::rank_id{rank});
}

// ----

void begin_trips(nacre::context& ctx, nacre::rank_id peer) { ask(ctx, peer); }

void begin_stream(nacre::context& ctx, nacre::rank_id peer, std::uint64_t window) {
  for (std::uint64_t i = 0; i < window; ++i) push(ctx, peer);
}

/// Lets rank 0 begin, and waits until nothing is under way.
template <class Begin>
void run_phase(nacre::runtime& rt, double seconds, std::size_t payload_bytes, Begin begin) {
  rank_state& mine = here();
  mine.payload.assign(payload_bytes, 'x');
  mine.times.clear();
  mine.acknowledged = 0;
  rt.barrier();
  mine.begin = bench::steady_seconds();
  mine.end = mine.begin + seconds;
  if (rt.rank().value() == 0) begin();
  rt.wait_quiescence();
}

/// Adds the median and the 99th percentile of the times of a phase, in milliseconds, and their number in a second.
void note_times(nlohmann::json& json, const std::string& name, double seconds) {
  std::vector<double>& times = here().times;
  std::sort(times.begin(), times.end());
  json[name + ", median"] = times[times.size() / 2] * 1e3;
  json[name + ", 99 %"] = times[times.size() * 99 / 100] * 1e3;
  json[name + ", a second"] = static_cast<double>(times.size()) / seconds;
}

/// What a rank does: rank 0 prints the figures.
void measure(nacre::runtime& rt, const plan& plan) {
  const bool first = rt.rank().value() == 0;
  const nacre::rank_id peer{rt.size() - 1};
  nlohmann::json figures;
  run_phase(rt, plan.seconds, 8, [&] { rt.send<begin_trips>(quickly, rt.rank(), peer); });
  if (first) note_times(figures, "trip", plan.seconds);
  run_phase(rt, plan.seconds, plan.bytes, [&] { rt.send<begin_stream>(quickly, rt.rank(), peer, plan.window); });
  if (first) {
    const double mib = static_cast<double>(here().acknowledged * plan.bytes) / (1 << 20);
    figures["stream"] = mib / (bench::steady_seconds() - here().begin);
  }
  run_phase(rt, plan.seconds, plan.answer, [&] { rt.send<start_round>(quickly, rt.rank()); });
  if (!first) return;
  note_times(figures, "round", plan.seconds);
  bench::print_json(figures);
  std::fflush(stdout);
}

// ---- the networks

/// Two hosts that drop some of the packets that come in. The network hands over packets as they would be on a wire,
/// not long ones that a network card cuts later.
constexpr const char* between_two_hosts = R"sh(
route=$1 nacre=$2 loss=$3; shift 3
for host in a b; do
  "$HOSTS_SHELL" $host "ethtool -K cable tso off gso off gro off tx-udp-segmentation off &&
    iptables -A INPUT -i cable -m statistic --mode random --probability $loss -j DROP &&
    ip route change 198.51.100.0/24 dev cable $route" || exit 77
done
exec "$nacre" run --hosts a,b --ssh "$HOSTS_SHELL" --address 198.51.100.1 "$@"
)sh";

/// A star whose switch drops what a port's buffer does not hold.
constexpr const char* in_a_star = R"sh(
route=$1 nacre=$2; shift 3
printf '#!/bin/sh\nexec ip netns exec "$1" sh -c "$2"\n' >/run/shell && chmod 755 /run/shell || exit 77
host=0 names=
while [ $host -lt $NACRE_STAR ]; do
  ethtool -K port$host tso off gso off gro off tx-udp-segmentation off && ip netns exec host$host ethtool -K eth0 tso off gso off gro off &&
    ip -n host$host route change 10.77.0.0/24 dev eth0 $route || exit 77
  names=$names${names:+,}host$host host=$((host + 1))
done
unset NACRE_STAR
exec ip netns exec host0 "$nacre" run --hosts $names --ssh /run/shell --address 10.77.0.1 "$@"
)sh";

struct variant {
  std::string_view name;
  const char* transport;
  const char* route;  // what the route says of TCP
};
constexpr variant variants[]{{"tcp, cubic", "tcp", "congctl cubic"},
                             {"tcp, bbr", "tcp", "congctl bbr"},
                             {"tcp, cubic, rto_min 1 ms", "tcp", "congctl cubic rto_min 1ms"},
                             {"udp", "udp", ""}};
constexpr const char* columns[]{"trip, median",  "trip, 99 %",  "trip, a second", "stream",
                                "round, median", "round, 99 %", "round, a second"};

std::vector<std::string> command_of(const variant& variant, const plan& plan) {
  std::vector<std::string> command{NACRE_TOOLS "/hosts_here.sh"};
  if (plan.senders != 0) {
    command = {NACRE_TOOLS "/star", "--hosts", std::to_string(plan.senders + 1), "--buffer",
               std::to_string(plan.buffer)};
  }
  command.insert(command.end(), {"sh", "-c", plan.senders != 0 ? in_a_star : between_two_hosts, "sh", variant.route,
                                 bench::own_folder() / "nacre", fmt::format("{}", plan.percent / 100), "--transport",
                                 variant.transport, bench::own_folder() / "losses", "--as-job"});
  for (const auto& [name, value] : {std::pair{"--seconds", fmt::format("{}", plan.seconds)},
                                    {"--bytes", std::to_string(plan.bytes)},
                                    {"--window", std::to_string(plan.window)},
                                    {"--answer", std::to_string(plan.answer)}}) {
    command.insert(command.end(), {name, value});
  }
  return command;
}

/// Runs the variants in turns and prints the medians of each. False: one has failed.
bool compare(const plan& plan) {
  std::vector<std::vector<nlohmann::json>> rows(std::size(variants));
  for (int run = 0; run < plan.runs; ++run) {
    for (std::size_t i = 0; i < std::size(variants); ++i) {
      const bench::outcome got = bench::run_command(command_of(variants[i], plan));
      if (got.exit_code != 0 || got.lines.empty()) return false;
      rows[i].push_back(bench::read_json(got.lines.back()));
    }
  }
  fmt::print("{:<26}", "ms, MiB/s; medians");
  for (const char* const column : columns) fmt::print(" {:>15}", column);
  fmt::print("\n");
  for (std::size_t i = 0; i < std::size(variants); ++i) {
    fmt::print("{:<26}", variants[i].name);
    for (const char* const column : columns) {
      std::vector<double> values;
      for (const nlohmann::json& row : rows[i]) values.push_back(row.at(column).get<double>());
      std::sort(values.begin(), values.end());
      fmt::print(" {:>15.4g}", values[values.size() / 2]);
    }
    fmt::print("\n");
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return nacre::run_program("losses", [&] {
    plan plan;
    nacre::config configuration = nacre::read_config(argc, argv);
    nacre::program_options options(
        "losses",
        "Round trips of 8 bytes, a stream, and rounds in which all ranks answer one, over networks that lose packets: "
        "two hosts, or a star on a switch with a short buffer, made of namespaces (needs root, iptables, ethtool).");
    options.add("--percent", plan.percent, "Of the packets between two hosts, how many are lost").between(0, 50);
    options.add("--star", plan.senders, "So many ranks answer over a switch, instead; 0: two hosts").between(0, 100);
    options.add("--buffer", plan.buffer, "Buffer of a port of the switch").between(2048, 1 << 24).of_bytes();
    options.add("--seconds", plan.seconds, "Time of each of the three").between(0.01, 600.0);
    options.add("--bytes", plan.bytes, "Size of a message of the stream").between(1, 64 << 20).of_bytes();
    options.add("--window", plan.window, "Messages of the stream that are under way").between(1, 1'000'000);
    options.add("--answer", plan.answer, "Size of an answer").between(1, 64 << 20).of_bytes();
    options.add("--runs", plan.runs, "Runs of every variant, in turns").between(1, 100);
    options.add("--as-job", plan.as_job, "").hidden();  // for the benchmark itself
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    if (!plan.as_job) return compare(plan) ? 0 : 1;
    configuration.set("workers", "1");
    return nacre::run(configuration, [&](nacre::runtime& rt) { measure(rt, plan); });
  });
}
