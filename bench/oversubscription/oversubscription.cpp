// SPDX-License-Identifier: Apache-2.0
// Do more ranks than cores get in each other's way? The same work on 2 ranks and on 8, in turns; the ratio counts.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

#include "figures_file.hpp"
#include "jobs.hpp"

namespace {

using namespace std::string_literals;

struct plan {
  std::vector<std::string> transports{"shm", "tcp", "ucx", "openmpi", "mpich"};
  int few = 2, many = 8, runs = 3;
  std::string tree = "T1L";
  std::uint64_t messages = 4'000'000, hops = 20'000;
  std::string json{};
  bool as_job = false;  // started by the benchmark itself, as a rank
};

// ---- what a rank does for the chain

/// One message that goes from rank to rank: at any time all ranks but one have nothing to do.
void hop(nacre::context& ctx, std::uint64_t left) {
  if (left == 0) return;
  ctx.send<hop>(nacre::rank_id{(ctx.rank().value() + 1) % ctx.size()}, left - 1);
}

int serve_chain(const plan& plan, int argc, char** argv) {
  return nacre::run(argc, argv, [&](nacre::runtime& rt) {
    rt.barrier();
    const double begin = rt.now();
    if (rt.rank().value() == 0) rt.send<hop>(rt.rank(), plan.hops);
    rt.wait_quiescence();
    if (rt.rank().value() == 0) bench::print_json({{"seconds", rt.now() - begin}});
  });
}

// ---- the benchmark

/// One kind of work: the program that does all of it on so many ranks, and its words.
struct work {
  std::string name;
  std::function<std::vector<std::string>(int ranks)> command;
};

std::vector<work> works_of(const plan& plan) {
  const auto program = [](const char* name) { return (bench::own_folder() / name).string(); };
  return {{"uts " + plan.tree,
           [=](int) {
             return std::vector{program("uts"), "--quiet"s, "--json"s, "--tree"s, plan.tree};
           }},
          {fmt::format("{} messages to random ranks", plan.messages),
           [=](int ranks) {
             return std::vector{program("message_rate"), "--remote"s,
                                fmt::format("--messages={}", plan.messages / static_cast<std::uint64_t>(ranks))};
           }},
          {fmt::format("{} hops of one message", plan.hops), [=](int) {
             return std::vector{program("oversubscription"), "--as-job"s, "--hops"s, std::to_string(plan.hops)};
           }}};
}

/// What the work took by the clock of its rank 0: "seconds" of a JSON object, or "2 ranks, 0.123 s:".
double seconds_of(const bench::outcome& got) {
  static const std::regex text("([0-9.]+) s:");
  for (const std::string& line : got.lines) {
    const auto row = bench::read_json(line);
    if (row.is_object() && row.contains("seconds")) return row.at("seconds");
    std::smatch match;
    if (std::regex_search(line, match, text)) return std::stod(match[1]);
  }
  throw std::runtime_error("a program has not said how long it took");
}

double measure(const std::string& transport, int ranks, const work& item) {
  std::vector<std::string> command = bench::launcher_of(transport, ranks).words;
  const std::vector<std::string> words = item.command(ranks);
  command.insert(command.end(), words.begin(), words.end());
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) {
    throw std::runtime_error(
        fmt::format("{} on {} ranks over {} ended with {}", words[0], ranks, transport, got.exit_code));
  }
  return seconds_of(got);
}

struct spread {
  double median = 0, least = 0, most = 0;
};
spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

struct row {
  std::string transport, work;
  spread few, many;
  [[nodiscard]] double ratio() const { return many.median / few.median; }
};

row compare(const std::string& transport, const work& item, const plan& plan) {
  std::vector<double> few, many;
  for (int run = 0; run < plan.runs; ++run) {
    few.push_back(measure(transport, plan.few, item));
    many.push_back(measure(transport, plan.many, item));
  }
  return {transport, item.name, spread_of(std::move(few)), spread_of(std::move(many))};
}

std::string text_of(const spread& spread) {
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", spread.median, spread.least, spread.most);
}

void write_json(const std::vector<row>& rows, const plan& plan) {
  const auto seconds = [](const spread& spread) {
    return nlohmann::json{{"median", spread.median}, {"min", spread.least}, {"max", spread.most}};
  };
  nlohmann::json all = nlohmann::json::array();
  for (const row& each : rows) {
    all.push_back({{"transport", each.transport},
                   {"work", each.work},
                   {"ranks", {plan.few, plan.many}},
                   {"seconds", {seconds(each.few), seconds(each.many)}},
                   {"ratio", each.ratio()}});
  }
  bench::write_json(plan.json,
                    nlohmann::json{{"benchmark", "oversubscription"}, {"runs", plan.runs}, {"rows", std::move(all)}});
}

void measure_all(const plan& plan) {
  std::vector<row> rows;
  fmt::print("{:<8} {:<34} {:>24} {:>24} {:>6}\n", "", "", fmt::format("{} ranks, s", plan.few),
             fmt::format("{} ranks, s", plan.many), "ratio");
  for (const std::string& transport : plan.transports) {
    if (const std::string missing = bench::launcher_of(transport, plan.many).missing; !missing.empty()) {
      fmt::print("{} is left out: {}\n", transport, missing);
      continue;
    }
    for (const work& each : works_of(plan)) {
      const row got = rows.emplace_back(compare(transport, each, plan));
      fmt::print("{:<8} {:<34} {:>24} {:>24} {:>6.2f}\n", got.transport, got.work, text_of(got.few), text_of(got.many),
                 got.ratio());
      std::fflush(stdout);
    }
  }
  if (!plan.json.empty()) write_json(rows, plan);
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "oversubscription",
      "The same work on few ranks and on many, alternating: a tree, messages from every rank to random others, and a "
      "single message that goes from rank to rank, so that every hop has to wake the next one. Run it on an idle "
      "machine with as many cores as there are few ranks; on two, a ratio of at most 2 is the aim for the first two.");
  options.add("--transport", plan.transports, "Which: shm, tcp, udp, ucx, openmpi, mpich")
      .one_of({"shm", "tcp", "udp", "ucx", "openmpi", "mpich"});
  options.add("--few", plan.few, "Ranks to compare with").between(2, 4096);
  options.add("--many", plan.many, "Ranks that share the same cores").between(2, 4096);
  options.add("--runs", plan.runs, "Runs of each, in turns").between(1, 100);
  options.add("--tree", plan.tree, "The tree of uts");
  options.add("--messages", plan.messages, "Messages of all ranks together").between(1, 1e12);
  options.add("--hops", plan.hops, "Hops of the single message").between(1, 1e12);
  options.add("--json", plan.json, "Also write the figures to this file");
  options.add("--as-job", plan.as_job, "").hidden();  // for the benchmark itself
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    if (plan.as_job) return serve_chain(plan, argc, argv);
    measure_all(plan);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "oversubscription: {}\n", problem.what());
    return 1;
  }
}
