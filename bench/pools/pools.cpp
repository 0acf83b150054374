// SPDX-License-Identifier: Apache-2.0
// What do blocks that are there already save? Pools against glibc and mimalloc: blocks by themselves, and in messages.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/block.hpp>
#include <nacre/run.hpp>

#include "figures_file.hpp"
#include "jobs.hpp"
#include "parts/blocks.hpp"
#include "parts/messages.hpp"
#include "plot.hpp"

namespace {

struct plan {
  std::vector<std::size_t> sizes{64, 256, 1024, 4096, 16384, 65536, 262144, 1u << 20, 4u << 20};
  int runs = 3;
  std::string transport = "shm";
  std::string only{}, json{}, svg{};
  bool as_job = false, without_pools = false;  // started by the benchmark itself, as a rank
};

struct spread {
  double median = 0, least = 0, most = 0;
};
spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

/// The seconds of all runs for one question: by variant, by size.
struct answers {
  std::string question;
  std::vector<std::string> variants{};  // in the order in which they came
  std::map<std::string, std::map<std::size_t, std::vector<double>>> seconds{};
  void add(const std::string& variant, std::size_t bytes, double value) {
    if (!seconds.contains(variant)) variants.push_back(variant);
    seconds[variant][bytes].push_back(value);
  }
  [[nodiscard]] spread of(const std::string& variant, std::size_t bytes) const {
    const auto& by_size = seconds.at(variant);
    const auto match = by_size.find(bytes);
    return match == by_size.end() ? spread{} : spread_of(match->second);
  }
};

std::string size_text(std::size_t bytes) {
  if (bytes >= (1u << 20)) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1024 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
  return seconds < 1e-3 ? fmt::format("{:.2f} us", seconds * 1e6) : fmt::format("{:.2f} ms", seconds * 1e3);
}

/// Two ranks under a launcher; the allocator of the variant is that of their processes.
void measure_messages(const plan& plan, const std::string& variant, answers& trips, answers& ways) {
  std::vector<std::string> command;
  if (variant == "mimalloc") command = {"env", fmt::format("LD_PRELOAD={}", pools::mimalloc_library())};
  const bench::launcher start = bench::launcher_of(plan.transport, 2);
  if (!start.missing.empty()) throw std::runtime_error(start.missing);
  command.insert(command.end(), start.words.begin(), start.words.end());
  command.push_back((bench::own_folder() / "pools").string());
  command.insert(command.end(), {"--as-job", "--transport", plan.transport, "--sizes"});
  for (const std::size_t bytes : plan.sizes) command.push_back(std::to_string(bytes));
  if (variant != "pools") command.push_back("--without-pools");
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) throw std::runtime_error(fmt::format("the ranks ended with {}", got.exit_code));
  for (const std::string& line : got.lines) {
    const auto row = bench::read_json(line);
    if (!row.is_object()) continue;
    trips.add(variant, row.at("bytes"), row.at("round_trip"));
    ways.add(variant, row.at("bytes"), row.at("one_way"));
  }
}

int serve_job(const plan& plan, int argc, char** argv) {
  if (plan.without_pools) nacre::disable_block_pools();
  return pools::exchange(nacre::read_config(argc, argv), plan.sizes, [](const pools::message_times& got) {
    bench::print_json({{"bytes", got.bytes}, {"round_trip", got.round_trip}, {"one_way", got.one_way}});
    std::fflush(stdout);
  });
}

void print_table(const answers& all, const plan& plan) {
  fmt::print("\n{}\n{:>8}", all.question, "");
  for (const std::string& variant : all.variants) fmt::print(" {:>32}", variant);
  for (std::size_t i = 1; i < all.variants.size(); ++i) fmt::print(" {:>14}", all.variants[i] + "/pools");
  fmt::print("\n");
  for (const std::size_t bytes : plan.sizes) {
    fmt::print("{:>8}", size_text(bytes));
    for (const std::string& variant : all.variants) {
      const spread one = all.of(variant, bytes);
      fmt::print(" {:>10} ({:>8} to {:>8})", time_text(one.median), time_text(one.least), time_text(one.most));
    }
    for (std::size_t i = 1; i < all.variants.size(); ++i) {
      fmt::print(" {:>14.2f}", all.of(all.variants[i], bytes).median / all.of(all.variants[0], bytes).median);
    }
    fmt::print("\n");
  }
}

void write_json(const std::vector<answers>& all, const plan& plan) {
  nlohmann::json rows = nlohmann::json::array();
  for (const answers& each : all) {
    for (const std::string& variant : each.variants) {
      for (const std::size_t bytes : plan.sizes) {
        const spread one = each.of(variant, bytes);
        rows.push_back({{"question", each.question},
                        {"variant", variant},
                        {"bytes", bytes},
                        {"ns", {{"median", one.median * 1e9}, {"min", one.least * 1e9}, {"max", one.most * 1e9}}},
                        {"ratio", one.median / each.of(each.variants[0], bytes).median}});
      }
    }
  }
  bench::write_json(plan.json, nlohmann::json{{"benchmark", "pools"}, {"runs", plan.runs}, {"rows", std::move(rows)}});
}

void write_plot(const std::vector<answers>& all, const plan& plan) {
  plot::page page("Blocks from pools, from glibc and from mimalloc");
  std::vector<plot::chart> row;
  for (const answers& each : all) {
    plot::chart chart{.title = each.question, .x_label = "size", .y_unit = "s"};
    for (std::size_t i = 0; i < each.variants.size(); ++i) {
      plot::line line{.name = each.variants[i], .colour = i + 1, .dashed = i != 0};
      for (const std::size_t bytes : plan.sizes) {
        const spread one = each.of(each.variants[i], bytes);
        line.points.push_back({static_cast<double>(bytes), one.median, one.least, one.most});
      }
      chart.lines.push_back(std::move(line));
    }
    row.push_back(std::move(chart));
    if (row.size() == 2) page.add_row(std::exchange(row, {}));
  }
  if (!row.empty()) page.add_row(std::move(row));
  bench::write_file(plan.svg, page.svg());
}

/// All variants in turns, so that what else the machine does meets each of them.
std::vector<answers> measure(const plan& plan) {
  std::vector<answers> all{{.question = "a block, taken and released by one thread"},
                           {.question = "a block, taken by one thread and released by another"},
                           {.question = fmt::format("a message over {}, there and back", plan.transport)},
                           {.question = fmt::format("a message over {}, in a stream", plan.transport)}};
  for (int run = 0; run < plan.runs; ++run) {
    for (const pools::source& source : pools::all_sources()) {
      for (const std::size_t bytes : plan.sizes) {
        if (plan.only == "messages") break;
        all[0].add(source.name, bytes, pools::one_thread(source, bytes));
        all[1].add(source.name, bytes, pools::two_threads(source, bytes));
      }
      if (plan.only != "blocks") measure_messages(plan, source.name, all[2], all[3]);
    }
  }
  std::erase_if(all, [](const answers& each) { return each.variants.empty(); });
  return all;
}

void declare(nacre::program_options& options, plan& plan) {
  options.add("--sizes", plan.sizes, "Bytes, such as 64,4KiB,1MiB").of_bytes().between(8, 64 << 20);
  options.add("--runs", plan.runs, "Runs of each variant").between(1, 100);
  options.add("--transport", plan.transport, "What carries the messages").one_of({"shm", "tcp", "openmpi", "mpich"});
  options.add("--only", plan.only, "Only blocks, or only messages").one_of({"blocks", "messages"});
  options.add("--json", plan.json, "Also write the figures to this file").called("FILE");
  options.add("--svg", plan.svg, "Also plot them to this file").called("FILE");
  options.add("--as-job", plan.as_job, "").hidden();  // both for the benchmark itself
  options.add("--without-pools", plan.without_pools, "").hidden();
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "pools",
      "What preallocated blocks save (PREMA's figure 6): Nacre's pools against glibc's malloc and, where "
      "libmimalloc-dev is installed, mimalloc. Run it on an idle machine.");
  declare(options, plan);
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    if (plan.as_job) return serve_job(plan, argc, argv);
    if (pools::mimalloc_library().empty()) fmt::print(stderr, "pools: mimalloc is left out: no libmimalloc.so\n");
    const std::vector<answers> all = measure(plan);
    fmt::print("Median (least to most) of {} runs in turns; a ratio above 1: the pools are faster\n", plan.runs);
    for (const answers& each : all) print_table(each, plan);
    if (!plan.json.empty()) write_json(all, plan);
    if (!plan.svg.empty()) write_plot(all, plan);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "pools: {}\n", problem.what());
    return 1;
  }
}
