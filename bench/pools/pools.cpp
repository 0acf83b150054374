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
    const auto found = by_size.find(bytes);
    return found == by_size.end() ? spread{} : spread_of(found->second);
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
void measure_messages(const plan& how, const std::string& variant, answers& trips, answers& ways) {
  std::vector<std::string> command;
  if (variant == "mimalloc") command = {"env", fmt::format("LD_PRELOAD={}", pools::mimalloc_library())};
  const bench::launcher start = bench::launcher_of(how.transport, 2);
  if (!start.missing.empty()) throw std::runtime_error(start.missing);
  command.insert(command.end(), start.words.begin(), start.words.end());
  command.push_back((bench::own_folder() / "pools").string());
  command.insert(command.end(), {"--as-job", "--transport", how.transport, "--sizes"});
  for (const std::size_t bytes : how.sizes) command.push_back(std::to_string(bytes));
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

int serve_job(const plan& how, int argc, char** argv) {
  if (how.without_pools) nacre::disable_block_pools();
  return pools::exchange(nacre::read_config(argc, argv), how.sizes, [](const pools::message_times& got) {
    bench::print_json({{"bytes", got.bytes}, {"round_trip", got.round_trip}, {"one_way", got.one_way}});
    std::fflush(stdout);
  });
}

void print_table(const answers& all, const plan& how) {
  fmt::print("\n{}\n{:>8}", all.question, "");
  for (const std::string& variant : all.variants) fmt::print(" {:>32}", variant);
  for (std::size_t i = 1; i < all.variants.size(); ++i) fmt::print(" {:>14}", all.variants[i] + "/pools");
  fmt::print("\n");
  for (const std::size_t bytes : how.sizes) {
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

void write_json(const std::vector<answers>& all, const plan& how) {
  nlohmann::json rows = nlohmann::json::array();
  for (const answers& each : all) {
    for (const std::string& variant : each.variants) {
      for (const std::size_t bytes : how.sizes) {
        const spread one = each.of(variant, bytes);
        rows.push_back({{"question", each.question},
                        {"variant", variant},
                        {"bytes", bytes},
                        {"ns", {{"median", one.median * 1e9}, {"min", one.least * 1e9}, {"max", one.most * 1e9}}},
                        {"ratio", one.median / each.of(each.variants[0], bytes).median}});
      }
    }
  }
  bench::write_json(how.json, nlohmann::json{{"benchmark", "pools"}, {"runs", how.runs}, {"rows", std::move(rows)}});
}

void write_plot(const std::vector<answers>& all, const plan& how) {
  plot::page page("Blocks from pools, from glibc and from mimalloc");
  std::vector<plot::chart> row;
  for (const answers& each : all) {
    plot::chart chart{.title = each.question, .x_label = "size", .y_unit = "s"};
    for (std::size_t i = 0; i < each.variants.size(); ++i) {
      plot::line line{.name = each.variants[i], .colour = i + 1, .dashed = i != 0};
      for (const std::size_t bytes : how.sizes) {
        const spread one = each.of(each.variants[i], bytes);
        line.points.push_back({static_cast<double>(bytes), one.median, one.least, one.most});
      }
      chart.lines.push_back(std::move(line));
    }
    row.push_back(std::move(chart));
    if (row.size() == 2) page.add_row(std::exchange(row, {}));
  }
  if (!row.empty()) page.add_row(std::move(row));
  bench::write_file(how.svg, page.svg());
}

/// All variants in turns, so that what else the machine does meets each of them.
std::vector<answers> measure(const plan& how) {
  std::vector<answers> all{{.question = "a block, taken and released by one thread"},
                           {.question = "a block, taken by one thread and released by another"},
                           {.question = fmt::format("a message over {}, there and back", how.transport)},
                           {.question = fmt::format("a message over {}, in a stream", how.transport)}};
  for (int run = 0; run < how.runs; ++run) {
    for (const pools::source& from : pools::all_sources()) {
      for (const std::size_t bytes : how.sizes) {
        if (how.only == "messages") break;
        all[0].add(from.name, bytes, pools::one_thread(from, bytes));
        all[1].add(from.name, bytes, pools::two_threads(from, bytes));
      }
      if (how.only != "blocks") measure_messages(how, from.name, all[2], all[3]);
    }
  }
  std::erase_if(all, [](const answers& each) { return each.variants.empty(); });
  return all;
}

void declare(nacre::program_options& options, plan& how) {
  options.add("--sizes", how.sizes, "Bytes, such as 64,4KiB,1MiB").of_bytes().between(8, 64 << 20);
  options.add("--runs", how.runs, "Runs of each variant").between(1, 100);
  options.add("--transport", how.transport, "What carries the messages").one_of({"shm", "tcp", "openmpi", "mpich"});
  options.add("--only", how.only, "Only blocks, or only messages").one_of({"blocks", "messages"});
  options.add("--json", how.json, "Also write the figures to this file").called("FILE");
  options.add("--svg", how.svg, "Also plot them to this file").called("FILE");
  options.add("--as-job", how.as_job, "").hidden();  // both for the benchmark itself
  options.add("--without-pools", how.without_pools, "").hidden();
}

}  // namespace

int main(int argc, char** argv) {
  plan how;
  nacre::program_options options(
      "pools",
      "What preallocated blocks save (PREMA's figure 6): Nacre's pools against glibc's malloc and, where "
      "libmimalloc-dev is installed, mimalloc. Run it on an idle machine.");
  declare(options, how);
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  try {
    if (how.as_job) return serve_job(how, argc, argv);
    if (pools::mimalloc_library().empty()) fmt::print(stderr, "pools: mimalloc is left out: no libmimalloc.so\n");
    const std::vector<answers> all = measure(how);
    fmt::print("Median (least to most) of {} runs in turns; a ratio above 1: the pools are faster\n", how.runs);
    for (const answers& each : all) print_table(each, how);
    if (!how.json.empty()) write_json(all, how);
    if (!how.svg.empty()) write_plot(all, how);
    return 0;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "pools: {}\n", problem.what());
    return 1;
  }
}
