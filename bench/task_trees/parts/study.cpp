// SPDX-License-Identifier: Apache-2.0
// Simulated runs, their bounds, and the picture.
#include "task_trees/parts/study.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plot.hpp"

namespace task_trees {
namespace {

template <class Value>
Value value_of(const std::string& word, std::initializer_list<Value> all) {
  return *std::find_if(all.begin(), all.end(), [&](Value each) { return word == name_of(each); });
}

/// The simulated machine of one run.
nacre::config machine_of(const plan& plan, const setting& setting) {
  nacre::config machine;
  machine.set("transport", "sim");
  machine.set("ranks", std::to_string(setting.ranks));
  machine.set("workers", "1");
  machine.set("seed", std::to_string(plan.seed));
  if (setting.balancer != "default") machine.set("balancer", setting.balancer);
  for (const std::string& each : plan.settings) {
    const std::size_t equals = each.find('=');
    if (equals == std::string::npos) throw std::runtime_error("--set needs NAME=VALUE, not " + each);
    machine.set(each.substr(0, equals), each.substr(equals + 1));
  }
  return machine;
}

/// What runs of a plan go by, options without a setting included.
nacre::config options_of(const plan& plan) {
  std::vector<std::string> words{"task_trees"};
  for (const std::string& each : plan.settings) {
    if (each.starts_with("sim.latency=")) throw std::runtime_error("grains count in the default latency: leave it");
    words.push_back("--nacre." + each);
  }
  std::vector<char*> pointers;
  for (std::string& each : words) pointers.push_back(each.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  return nacre::read_config(count, pointers.data());
}

double seconds_of(const nacre::config& options, const char* name) {
  return std::chrono::duration<double>(options.get_duration(name)).count();
}

/// The least time in which one rank runs some tasks of a bag and sends the others away, which takes it `giving` seconds
/// each, while all others run what they get.
double bag_bound(const program& program, double work, std::uint32_t ranks, double giving) {
  const auto tasks = static_cast<double>(program.tasks);
  const double mean = work / tasks;
  if (ranks == 1 || giving >= mean) return 0;
  const double others = ranks - 1;
  const double shared = work / (1 + others * (1 - giving / mean));
  return std::max(shared, shared * others / mean > tasks ? tasks * giving : 0);
}

measurement run_once(const plan& plan, const setting& setting, const program& program) {
  measurement match;
  const int failed = nacre::run(machine_of(plan, setting), [&](nacre::runtime& rt) {
    const measurement attribute = run(rt, program);
    if (rt.rank().value() == 0) match = attribute;
  });
  if (failed != 0 || match.tasks != program.tasks) throw std::runtime_error("a run has failed, or lost tasks");
  return match;
}

}  // namespace

const char* name_of(shape shape) { return shape == shape::tree ? "tree" : "bag"; }
const char* name_of(law law) { return law == law::equal ? "equal" : law == law::exponential ? "exponential" : "heavy"; }

shape shape_of(const std::string& word) { return value_of(word, {shape::tree, shape::bag}); }
law law_of(const std::string& word) { return value_of(word, {law::equal, law::exponential, law::heavy}); }

rows simulate(const plan& plan, const std::function<void(const row&)>& tell) {
  const nacre::config options = options_of(plan);
  const double latency = seconds_of(options, "sim.latency");
  const double giving = seconds_of(options, "sim.send_overhead") +
                        options.get_double("sim.cost.factor") *
                            (seconds_of(options, "sim.cost.move_out") + seconds_of(options, "sim.cost.send"));
  rows all;
  for (const std::string& shape : plan.shapes) {
    for (const std::string& law : plan.laws) {
      for (const std::uint32_t grain : plan.grains) {
        for (const std::uint32_t ranks : plan.ranks) {
          const program program{.shape = shape_of(shape),
                                .law = law_of(law),
                                .tasks = plan.tasks_a_rank * ranks,
                                .mean_seconds = grain * latency,
                                .seed = plan.seed};
          const bounds least = bounds_of(program);
          const double greedy = greedy_seconds(program, ranks);
          for (const std::string& balancer : plan.balancers) {
            row next{.conditions = {program.shape, program.law, grain, ranks, balancer}, .tasks = program.tasks};
            next.took = run_once(plan, next.conditions, program);
            next.work_a_rank = least.work / ranks;
            next.greedy = greedy;
            next.ideal = std::max({next.work_a_rank, least.longest_path, next.took.created});
            if (program.shape == shape::bag)
              next.ideal = std::max(next.ideal, bag_bound(program, least.work, ranks, giving));
            tell(next);
            all.push_back(std::move(next));
          }
        }
      }
    }
  }
  return all;
}

nlohmann::ordered_json json_of(const rows& all) {
  auto list = nlohmann::ordered_json::array();
  for (const row& each : all) {
    list.push_back({{"shape", name_of(each.conditions.shape)},
                    {"costs", name_of(each.conditions.law)},
                    {"grain", each.conditions.grain},
                    {"ranks", each.conditions.ranks},
                    {"tasks", each.tasks},
                    {"balancer", each.conditions.balancer},
                    {"ideal_seconds", each.ideal},
                    {"work_a_rank_seconds", each.work_a_rank},
                    {"greedy_seconds", each.greedy},
                    {"seconds", each.took.seconds},
                    {"last_end_seconds", each.took.last_end},
                    {"made_seconds", each.took.created},
                    {"efficiency", each.efficiency()},
                    {"moves", each.took.moves},
                    {"messages", each.took.messages}});
  }
  return list;
}

std::string svg_of(const plan& plan, const rows& all) {
  plot::page page("What balancers reach of the ideal: trees and bags of small objects (simulated)");
  for (const std::string& shape : plan.shapes) {
    for (const std::string& law : plan.laws) {
      std::vector<plot::chart> charts;
      for (const std::uint32_t grain : plan.grains) {
        plot::chart chart{.title = fmt::format("{}, {} costs, {} latencies a task", shape, law, grain),
                          .x_label = "ranks",
                          .x_is_bytes = false,
                          .kind = plot::axes::share};
        for (std::size_t b = 0; b < plan.balancers.size(); ++b) {
          plot::line line{.name = plan.balancers[b], .colour = b + 1, .dashed = b >= 7};
          for (const row& each : all) {
            if (name_of(each.conditions.shape) != shape || name_of(each.conditions.law) != law ||
                each.conditions.grain != grain || each.conditions.balancer != plan.balancers[b]) {
              continue;
            }
            line.points.push_back({.x = static_cast<double>(each.conditions.ranks), .y = each.efficiency()});
          }
          chart.lines.push_back(std::move(line));
        }
        charts.push_back(std::move(chart));
      }
      page.add_row(std::move(charts));
    }
  }
  return page.svg();
}

double least_efficiency(const plan& plan, const rows& all) {
  double least = 1;
  for (const row& each : all) {
    if (each.conditions.balancer == plan.balancers.front()) least = std::min(least, each.efficiency());
  }
  return least;
}

}  // namespace task_trees
